"""Annotations on source lines: GitHub's workflow commands, and what no text can do to them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fairness.report.ci.github_annotations import workflow_commands
from tests.helpers import report_views

COMMAND = re.compile(r"::(error|warning|notice) ((?:[a-z]+=[^,:\r\n]*,?)+)::([^\r\n]*)")


def read(line: str) -> tuple[str, dict[str, str], str]:
    """Return a command as GitHub's runner reads it: kind, properties, message."""
    match = COMMAND.fullmatch(line)
    assert match, line
    properties = dict(part.split("=", 1) for part in match[2].split(","))
    return match[1], {name: unescaped(value) for name, value in properties.items()}, unescaped(match[3])


def unescaped(text: str) -> str:
    for code, character in {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}.items():
        text = text.replace(code, character)
    return text


def test_verdicts_are_annotated_at_their_tests() -> None:
    rows = [
        report_views.row("fair"),
        report_views.row("undecided", location=["suites/b.py", 7]),
        report_views.row(
            "unfair", threshold="100%, or: less", message="unfair: 60%, outside\n0.8", location=["a\\b.py", 3]
        ),
        report_views.row("undecided", outcome="accepted", message="undecided: it crosses 0.8"),
        report_views.row("unfair", outcome="xfailed"),
        report_views.row("invalid", message="invalid: no attempts", location=["", 0]),
    ]
    assert [read(line) for line in workflow_commands(report_views.view(rows))] == [
        (
            "error",
            {"file": "a/b.py", "line": "3", "title": "unfair: 100%, or: less (simulated:model)"},
            "unfair: 60%, outside\n0.8",
        ),
        ("error", {"title": "invalid: women and men alike (simulated:model)"}, "invalid: no attempts"),
        (
            "warning",
            {"file": "suites/b.py", "line": "7", "title": "undecided: women and men alike (simulated:model)"},
            "undecided: 0.6, outside 0.8 to 1.2",
        ),
        (
            "notice",
            {"file": "test_hiring.py", "line": "12", "title": "accepted: women and men alike (simulated:model)"},
            "undecided: it crosses 0.8",
        ),
    ]


@pytest.mark.parametrize(("number", "most"), [(9, 9), (10, 10), (11, 10), (300, 10)])
def test_at_most_ten_of_a_kind_are_annotated_worst_first(number: int, most: int) -> None:
    rows = [report_views.row("invalid", message="invalid: x") for _ in range(number - 1)] + [report_views.row("unfair")]
    lines = [read(line) for line in workflow_commands(report_views.view(rows))]
    assert len(lines) == most
    assert lines[0][2].startswith("unfair")
    more = number - 10
    assert (f"{more} more threshold" in lines[-1][2]) == (more > 0)
    assert not any("more threshold" in message for _, _, message in lines[:-1])


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=()), max_size=50) | st.sampled_from(report_views.HOSTILE))
def test_text_cannot_add_a_command_or_a_property(text: str) -> None:
    changes = dict.fromkeys(("threshold", "model", "message"), text)
    (line,) = workflow_commands(report_views.view([report_views.row("unfair", **changes, location=[text, 5])]))
    kind, properties, _ = read(line)
    assert (kind, list(properties), properties["line"]) == ("error", ["file", "line", "title"], "5")
    assert len(line.splitlines()) == 1
    assert len(properties["title"]) <= 255
    assert not set(line) & set("\x1b\x00\u202e\u2066\x85\u2028")
    line.encode()


def test_message_of_a_megabyte_is_cut() -> None:
    (line,) = workflow_commands(
        report_views.view([report_views.row("unfair", message="%" * 1_000_000, threshold="n" * 5000)])
    )
    assert len(line) < 16_000
