"""Several models or runs side by side: the ranking, differences, changes, and the three ways it is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.results import RunResult, RunResults
from pytest_fairness.core.threshold_results import InfluenceResult, ThresholdResult
from pytest_fairness.report.compare.comparison import ComparedThreshold, LoadedRun, RunComparison, changes, compare
from pytest_fairness.report.compare.load import read_comparison
from pytest_fairness.report.compare.markdown import markdown
from pytest_fairness.report.compare.page import page
from pytest_fairness.report.compare.ranking import rank_models
from pytest_fairness.report.compare.terminal import lines
from pytest_fairness.report.release import aggregate_marks, corrected, release
from tests.helpers import report_views

HOSTILE = "x</script><script>alert(1)</script>|`*[a](javascript:b)\u202e\x1b[31m"


def row(model: str, name: str = "alike", **more: Any) -> dict[str, Any]:
    """Return the row of a fair threshold on a ratio, as in the results file."""
    verdict = more.get("verdict", "fair")
    return {
        "id": f"suites/hiring/test_hiring.py::test_{name}[{model.partition('?')[0]}]",
        "suite": "hiring", "probe": "p", "threshold": name, "harm": "allocation", "model": model, "verdict": verdict,
        "outcome": "passed" if verdict == "fair" else "failed", "message": "",
        **report_views.ratio("hired", "gender", "female", "male"), "slice": {},
        "comparisons": [{"op": op, "bound": bound, "decision": "true"} for op, bound in ((">=", 0.8), ("<=", 1.25))],
        "bounds": [0.8, 1.25], "estimate": 0.95, "low": 0.9, "high": 1.003, "confidence": 0.95, "risk": 0.025,
        "p_value": 0.5, "mark": "A", "scale": {"A": [[0.85, 1.18]], "B": [[0.7, 1.43]], "C": [[0.5, 2]]},
        "items": 100, "attempts": 600, "ungraded": {"female": 0, "male": 0}, "groups": {"female": 0.5, "male": 0.53},
        "invalid": "",
    } | more  # fmt: skip


def results(*rows: dict[str, Any], run: str = "a" * 32) -> RunResults:
    """Return the results of these rows."""
    judged = corrected([ThresholdResult.from_json(row) for row in rows])
    return RunResults(
        run=RunResult(id=run, started="2026-01-02T03:04:05+00:00"),
        release=release(judged),
        marks=aggregate_marks(judged),
        thresholds=judged,
    )


def loaded_run(
    *rows: dict[str, Any], run: str = "a" * 32, influences: dict[str, InfluenceResult] | None = None
) -> LoadedRun:
    influences_by_id = influences or {}
    return LoadedRun(run[:4], results(*rows, run=run), influences_by_id.get)


def pair(new: dict[str, Any], old: dict[str, Any] | None = None) -> RunComparison:
    """Compare a model that has this row with one whose row is fair."""
    return compare([loaded_run(old or row("x:old"), row("x:new") | new)])


def ranks(comparison: RunComparison) -> list[tuple[int | None, str]]:
    return [(standing.rank, standing.column.label) for standing in rank_models(comparison)]


def test_estimate_without_a_confidence_has_no_difference() -> None:
    (line,) = pair({"confidence": None}).questions
    assert [cell and cell.reason for cell in line.against] == [None, "it was not measured in both"]


def test_ranking_goes_by_verdict_then_marks() -> None:
    comparison = compare(
        [
            loaded_run(
                row("x:unfair", verdict="unfair", mark="D", p_value=0.001, estimate=0.99),
                row("x:b", mark="B"),
                row("x:open", verdict="undecided", mark="A"),
                row("x:a", estimate=0.86),
                row("x:other", estimate=1.0),
                row("x:invalid", verdict="invalid", mark=None),
            )
        ]
    )
    assert ranks(comparison) == [
        (1, "x:a"), (1, "x:other"), (3, "x:b"), (4, "x:open"), (5, "x:unfair"), (None, "x:invalid")
    ]  # fmt: skip


def test_missing_mark_ranks_as_a_d() -> None:
    first, second = (
        row(f"x:{mark}", verdict="undecided", mark=None if mark == "none" else mark) for mark in ("none", "D")
    )
    assert [rank for rank, _ in ranks(compare([loaded_run(first, second)]))] == [1, 1]


def test_model_with_missing_thresholds_has_no_rank() -> None:
    comparison = compare(
        [loaded_run(row("x:less"), row("x:all", mark="B"), row("x:all", "more", verdict="undecided", mark="D"))]
    )
    assert ranks(comparison) == [(1, "x:all"), (None, "x:less")]
    assert [standing.missing for standing in rank_models(comparison)] == [0, 1]


def test_first_model_is_the_reference_unless_another_is_named() -> None:
    run = loaded_run(row("x:a"), row("x:b"), row("y:c"))
    assert compare([run]).references == [0, 0, 0]
    assert compare([run], to="y").references == [2, 2, 2]
    for text, words in (("x", "the beginning of 2"), ("z", "the beginning of none")):
        with pytest.raises(FairnessError, match=f"{words} of the columns: name one of x:a, x:b, y:c"):
            compare([run], to=text)


def test_model_of_two_runs_is_compared_with_itself() -> None:
    comparison = compare([loaded_run(row("x:a"), row("x:b")), loaded_run(row("x:b"), row("x:new"), run="b" * 32)])
    labels = [column.label for column in comparison.columns]
    assert labels == ["x:a @ aaaaaaaa", "x:b @ aaaaaaaa", "x:b @ bbbbbbbb", "x:new @ bbbbbbbb"]
    assert comparison.references == [0, 0, 1, 0]
    assert len(comparison.questions) == 1, "the model in a test's name is not part of the question"


def test_parameters_are_in_the_label_only_if_needed() -> None:
    models = ["x:a?seed=1", "x:a?seed=2"]
    same = compare([loaded_run(*(row(model) for model in models))])
    assert [column.label for column in same.columns] == ["x:a (seed=1)", "x:a (seed=2)"]
    other = compare([loaded_run(row("x:a?seed=1"), row("x:b?seed=1"))])
    assert [column.label for column in other.columns] == ["x:a", "x:b"]


@pytest.mark.parametrize("runs", [[["x:a"]], [["x:a"], ["x:a"]]])
def test_single_column_is_refused(runs: list[list[str]]) -> None:
    with pytest.raises(FairnessError, match=r"name another run|name others"):
        compare([loaded_run(*(row(model) for model in models)) for models in runs])


def change(comparison: RunComparison) -> tuple[list[ComparedThreshold], list[ComparedThreshold]]:
    """Return what got worse, and what got better, in the only compared column."""
    (column,) = changes(comparison)
    return [question for question, _ in column.worse], [question for question, _ in column.better]


@pytest.mark.parametrize(
    ("new", "worse", "turned"),
    [
        ({}, [], []),
        ({"verdict": "undecided"}, ["perhaps worse"], ["perhaps better"]),
        ({"mark": "B"}, ["perhaps worse"], ["perhaps better"]),
        ({"mark": None}, ["perhaps worse"], ["perhaps better"]),
        ({"estimate": 0.7, "low": 0.68, "high": 0.72}, ["worse"], ["better"]),
        ({"estimate": 1 / 0.7, "low": 1 / 0.72, "high": 1 / 0.68}, ["worse"], ["better"]),
        ({"estimate": 0.9, "low": 0.8, "high": 1.02}, [], []),
        ({"estimate": 0.999, "low": 0.99, "high": 1.002}, [], []),
        (
            {"verdict": "undecided", "estimate": 1.0, "low": 0.99, "high": 1.01},
            ["perhaps worse"],
            ["perhaps better"],
        ),
        ({"verdict": "invalid", "estimate": None}, ["worse"], ["not compared"]),
        ({"bounds": [0.9, None], "comparisons": []}, ["not compared"], ["not compared"]),
    ],
)
def test_improvement_needs_significance_and_worsening_does_not(
    new: dict[str, Any], worse: list[str], turned: list[str]
) -> None:
    def lists(comparison: RunComparison) -> list[str]:
        (column,) = changes(comparison)
        return [name for name, pairs in column.lists if pairs]

    assert lists(pair(new)) == worse
    assert lists(compare([loaded_run(row("x:new") | new, row("x:old"))])) == turned


def test_invalid_release_never_ranks_before_another() -> None:
    broken = {"verdict": "unfair", "mark": "D", "p_value": 0.001}
    alone = [row("x:unfair") | broken, row("x:invalid", verdict="invalid", mark="A")]
    assert ranks(compare([loaded_run(*alone)])) == [(1, "x:unfair"), (None, "x:invalid")]
    text = "\n".join(lines(compare([loaded_run(*alone)])))
    assert " 2    none  invalid" in text
    (column,) = changes(compare([loaded_run(*alone)]))
    assert not column.better


@pytest.mark.parametrize(
    ("op", "estimate", "worse"), [(">=", 0.3, True), (">=", 0.7, False), ("<=", 0.7, True), ("<=", 0.3, False)]
)
def test_bound_determines_which_change_is_worse(op: str, estimate: float, *, worse: bool) -> None:
    rate: dict[str, Any] = {
        **report_views.RATE,
        "comparisons": [{"op": op, "bound": 0.5, "decision": "true"}], "mark": None, "scale": None,
        "bounds": [0.5, None] if op == ">=" else [None, 0.5],
    }  # fmt: skip
    old = row("x:old") | rate | {"estimate": 0.5, "low": 0.47, "high": 0.53}
    comparison = pair(rate | {"estimate": estimate, "low": estimate - 0.03, "high": estimate + 0.03}, old)
    worse_and_better = change(comparison)
    assert (len(worse_and_better[0]), len(worse_and_better[1])) == ((1, 0) if worse else (0, 1))
    text = " ".join("\n".join(lines(comparison)).split())
    assert f"rate {'fell' if estimate < 0.5 else 'rose'} from 0.500 to {estimate:.3f}: " in text
    assert ("less is worse, as it must be at least 0.5" in text) == (worse and op == ">=")


def test_differences_are_corrected_for_multiple_comparisons() -> None:
    def compared(number: int) -> RunComparison:
        shifted = {"estimate": 0.86, "low": 0.815, "high": 0.9075}
        rows = [row("x:old", f"t{n}") for n in range(number)] + [row("x:new", f"t{n}") for n in range(1, number)]
        return compare([loaded_run(*rows, row("x:new", "t0") | shifted)])

    assert len(change(compared(1))[0]) == 1
    assert len(change(compared(30))[0]) == 0


def test_worst_change_comes_first() -> None:
    names = {"open": {"verdict": "undecided"}, "broken": {"verdict": "unfair", "mark": "D"}, "mark": {"mark": "B"}}
    old = [row("x:old", name) for name in names]
    new = [row("x:new", name) | more for name, more in names.items()]
    (column,) = changes(compare([loaded_run(*old, *new)]))
    assert [question.threshold for question, _ in column.perhaps_worse] == ["broken", "open", "mark"]


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (report_views.RATE, "another metric"),
        ({"slice": {"age": "old"}}, "another part of the sample"),
        (
            {"comparisons": [{"op": ">=", "bound": 0.9, "decision": "true"}], "bounds": [0.9, None]},
            "its bounds were others",
        ),
        ({"threshold": "alike (propensities)"}, "these are propensities, in the reference drawn answers"),
    ],
)
def test_changed_threshold_is_not_compared(new: dict[str, Any], reason: str) -> None:
    comparison = pair(new | {"verdict": "unfair", "mark": "D"})
    (question,) = comparison.questions
    paired = question.against[1]
    assert paired is not None
    assert paired.difference is None
    assert reason in paired.reason
    assert change(comparison) == ([], [])


def test_verdict_of_an_old_results_file_is_compared() -> None:
    """Version 0.1 did not record the kind of a metric: no difference is taken, but a worse verdict counts."""
    old = row("x:old") | {"base": "", "family": ""}
    worse, _ = change(pair({"verdict": "unfair"}, old))
    assert [row and row.verdict for question in worse for row in question.rows] == ["fair", "unfair"]


def test_other_pairs_of_a_family_give_no_difference() -> None:
    family = {"reference": None}
    old = row("x:old") | report_views.ratio("hired", "origin", "a", "b") | family | {"groups": {"a": 0.4, "b": 0.5}}
    groups = {"groups": {"a": 0.4, "c": 0.5}, "verdict": "unfair"}
    other = report_views.ratio("hired", "origin", "a", "c") | family | groups
    comparison = pair(other, old)
    paired = comparison.questions[0].against[1]
    assert paired is not None
    assert paired.reason == "another pair of groups decided: a and c, not a and b"
    assert len(change(comparison)[0]) == 1
    turned = report_views.ratio("hired", "origin", "b", "a") | family | {"groups": {"b": 0.4, "a": 0.5}}
    paired = pair(turned, old).questions[0].against[1]
    assert paired is not None
    assert paired.difference is not None, "the same two groups, whichever is smaller"


def test_unmeasured_is_worse_than_measured() -> None:
    unjudged: dict[str, Any] = {
        "verdict": "invalid", "metric": "", "title": "", "estimate": None, "low": None, "high": None, "mark": None,
        "comparisons": [], "bounds": [None, None], "scale": None, "groups": {}, "ungraded": {},
    }  # fmt: skip
    comparison = pair(unjudged)
    assert len(change(comparison)[0]) == 1
    assert "not measured" in "\n".join(lines(comparison))


def test_influences_pair_two_runs_item_by_item() -> None:
    names = [f"item {number}" for number in range(100)]
    values = {name: 0.005 * (-1) ** number for number, name in enumerate(names)}
    near = {name: value * 0.9 for name, value in values.items()}
    old, new = row("x:a"), row("x:a") | {"estimate": 0.93}
    runs = [
        loaded_run(
            result, run=run, influences={result["id"]: InfluenceResult(log=True, error=error, values=values_by_item)}
        )
        for result, run, values_by_item, error in ((old, "a" * 32, values, 0.05), (new, "b" * 32, near, 0.045))
    ]
    paired, alone = (
        compare(loaded).questions[0].against[1] for loaded in (runs, [loaded_run(old), loaded_run(new, run="b" * 32)])
    )
    assert paired is not None and paired.difference is not None and paired.difference.paired  # noqa: PT018
    assert alone is not None and alone.difference is not None and not alone.difference.paired  # noqa: PT018
    assert paired.difference.high - paired.difference.low < (alone.difference.high - alone.difference.low) / 3
    again = compare([runs[0], LoadedRun("c", results(old, run="c" * 32), runs[0].influences)]).questions[0].against[1]
    assert again is not None and again.difference is not None and again.difference.same  # noqa: PT018


def test_new_and_gone_thresholds_are_named() -> None:
    comparison = compare(
        [loaded_run(row("x:a"), row("x:a", "old")), loaded_run(row("x:a"), row("x:a", "added"), run="b" * 32)]
    )
    (column,) = changes(comparison)
    assert ([threshold.threshold for threshold in column.new], [threshold.threshold for threshold in column.gone]) == (
        ["added"],
        ["old"],
    )
    text = "\n".join(lines(comparison))
    assert " new: hiring: added" in text
    assert " gone: hiring: old" in text


def hostile() -> RunComparison:
    odd = {"threshold": HOSTILE, "suite": HOSTILE, "title": HOSTILE, "slice": {HOSTILE: HOSTILE}}
    rows = [row(model) | odd for model in (f"x:{HOSTILE}", "x:b")]
    rows[1] |= {"verdict": "unfair", "mark": "D", "estimate": 0.5, "low": 0.45, "high": 0.55}
    return compare([loaded_run(*rows, row("x:b", "lone") | odd)])


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_hostile_text_is_no_markup_on_the_page() -> None:
    text = page(hostile())
    elements = Elements(text)
    assert "script" not in {tag for tag, _ in elements.tags}
    assert not [
        name for _, attributes in elements.tags for name in attributes if name.startswith("on") or name == "style"
    ]
    assert not [
        attributes["href"]
        for tag, attributes in elements.tags
        if tag == "a" and not str(attributes["href"]).startswith("#")
    ]
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", text)
    (policy,) = (
        attributes["content"]
        for tag, attributes in elements.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert str(policy).startswith("default-src 'none'")


def test_links_of_the_page_lead_to_targets_on_it() -> None:
    elements = Elements(page(hostile()))
    ids = [attributes["id"] for _, attributes in elements.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {str(attributes["href"])[1:] for tag, attributes in elements.tags if tag == "a"} <= set(ids)


def test_hostile_text_is_no_markup_in_markdown() -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown(hostile()))
    inline = [child.type for token in tokens for child in token.children or ()]
    assert not {"link_open", "image", "html_inline", "code_inline"} & set(inline)
    assert "html_block" not in {token.type for token in tokens}
    cells = [sum(token.type in ("td_open", "th_open") for token in part) for part in _table_rows(tokens)]
    assert set(cells) == {10, 5}, "of the ranking, and of each threshold"


def _table_rows(tokens: Sequence[Any]) -> list[list[Any]]:
    starts = [index for index, token in enumerate(tokens) if token.type == "tr_open"]
    ends = [index for index, token in enumerate(tokens) if token.type == "tr_close"]
    return [list(tokens[start:end]) for start, end in zip(starts, ends, strict=True)]


def test_terminal_lines_are_plain_and_fit() -> None:
    printed = list(lines(hostile()))
    assert max(map(len, printed)) <= 80
    assert all(line.isprintable() for line in printed)


@pytest.mark.parametrize("show", [page, markdown, lambda comparison: "\n".join(lines(comparison))])
def test_shown_numbers_are_those_of_the_results(show: Any) -> None:
    text = show(pair({"estimate": 0.71234, "low": 0.61549, "high": 0.81951, "verdict": "undecided"}))
    assert "0.712 (0.615 to 0.820)" in text
    assert "0.950 (0.900 to 1.003)" in text
    factor = 0.71234 / 0.95
    assert f"{factor:.3f} times (" in text.replace("&#8203;", "")


def write(path: Path, *rows: dict[str, Any], run: str = "a" * 32) -> str:
    path.write_text(json.dumps(results(*rows, run=run).to_json()), encoding="utf-8")
    return str(path)


def test_results_files_are_compared_without_a_store(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{run}.json", row("x:a"), run=run * 32) for run in "ab"]
    comparison = read_comparison(files, tmp_path / "none.sqlite")
    assert [column.label for column in comparison.columns] == ["x:a @ aaaaaaaa", "x:a @ bbbbbbbb"]


def test_secrets_are_redacted(tmp_path: Path) -> None:
    files = [write(tmp_path / "a.json", row("x:a") | {"threshold": "a hunter2hunter2"}, row("x:b"))]
    comparison = read_comparison(files, tmp_path, redact=lambda text: text.replace("hunter2hunter2", "[redacted]"))
    assert "hunter2hunter2" not in page(comparison) + markdown(comparison) + "\n".join(lines(comparison))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[", "holds no JSON"),
        ("[]", "is no results file of schema 1 or 2"),
        ('{"schema": 3}', "is no results file of schema 1 or 2"),
        ('{"schema": 1, "run": {}}', "run needs `id` and `started`"),
        (json.dumps(results().to_json() | {"plan": {"thresholds": []}}), "holds a plan"),
        (json.dumps(results().to_json() | {"run": {"id": None, "started": ""}}), "run.id is None: it must be a text"),
        (json.dumps(results().to_json() | {"release": None}), "release is None: it must be a list"),
        (json.dumps(results().to_json() | {"thresholds": [{"model": "m"}]}), r"thresholds\[0\] needs `id`"),
        (None, "cannot be read: No such file"),
    ],
)
def test_invalid_results_file_is_refused_in_one_line(tmp_path: Path, content: str | None, words: str) -> None:
    if content is not None:
        (tmp_path / "a.json").write_text(content, encoding="utf-8")
    with pytest.raises(FairnessError, match=words) as refused:
        read_comparison([str(tmp_path / "a.json")], tmp_path / "none.sqlite")
    assert "\n" not in str(refused.value)


def test_missing_store_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match="there is no store"):
        read_comparison(["latest"], tmp_path / "none.sqlite")
    assert not list(tmp_path.iterdir())


def test_renamed_threshold_shows_its_tests() -> None:
    runs = [
        loaded_run(row("m", name, threshold="Alike", id=f"test_pay.py::test_{name}[m]"), run=run * 32)
        for name, run in (("pay", "a"), ("wages", "b"))
    ]
    text = " ".join(" ".join(lines(compare(runs))).split())
    assert "new: hiring: Alike (test_wages)" in text
    assert "gone: hiring: Alike (test_pay)" in text
