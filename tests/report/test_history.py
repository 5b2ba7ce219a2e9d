"""``pytest-fairness history``: runs of a store and results files, what changed, and files that are refused."""

from __future__ import annotations

import io
import json
import re
import sys
from contextlib import closing, suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.cli.main import main
from pytest_fairness.core.output_files import PAGE
from pytest_fairness.store.store import Store
from tests.helpers.accessibility import check_accessibility
from tests.helpers.report_views import HOSTILE, row

if TYPE_CHECKING:
    from tests.report.conftest import OpenPage

DAY = 86_400
START = 1_767_225_600
"""2026-01-01."""


def results(number: int, *rows: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the content of a results file of the run of a day."""
    run = {"id": f"{number:04}abcd", "started": f"2026-01-{number:02}T10:00:00+00:00", "git": f"{number:040}"}
    return {"schema": 2, "run": run | changes, "thresholds": list(rows or [row()])}


def write(folder: Path, *contents: Any) -> list[str]:
    names = []
    for index, content in enumerate(contents):
        path = folder / f"results-{index}.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        names.append(str(path))
    return names


def read(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["history", *arguments, "--json"]) == 0
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


def test_files_are_put_in_order_and_changes_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judge = {"grade": "hired", "models": ["openai:judge"]}
    lower: dict[str, Any] = {
        "bounds": [0.7, 1.2],
        "comparisons": [{"op": ">=", "bound": 0.7}, {"op": "<=", "bound": 1.2}],
    }
    base: dict[str, Any] = {"items_digest": "a", "graders": {"hired": "v1"}, "served_by": ["m-1"]}
    files = write(
        tmp_path,
        results(3, row("unfair", **base | lower | {"served_by": ["m-2"], "threshold": "women and men hired alike"})),
        results(1, row(**base)),
        results(2, row(**base)),
        results(4, row(**base | lower | {"items_digest": "b", "graders": {"hired": "v2"}, "judges": [judge]})),
        results(5, row(**base | lower | {"restricted": ["--fairness-sample=9"]})),
    )
    history = read(capsys, *files)
    (threshold,) = history["thresholds"]
    runs = threshold["runs"]
    assert [run["run"] for run in runs] == [f"{number:04}abcd" for number in range(1, 6)]
    assert runs[0]["changes"] == runs[1]["changes"] == []
    assert runs[2]["changes"] == [
        "title women and men hired alike (before: women and men alike)",
        "bounds 0.7 to 1.2 (before: 0.8 to 1.2)",
        "served by m-2 (before: m-1)",
    ]
    assert "other items of the probe" in runs[3]["changes"]
    assert "other graders" in runs[3]["changes"]
    assert "judged by openai:judge (before: no model)" in runs[3]["changes"]
    assert "sample: --fairness-sample=9 (before: the whole sample)" in runs[4]["changes"]
    assert runs[4]["remarks"] == ["with --fairness-sample=9"]


def test_runs_without_verdict_stand_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nothing: dict[str, Any] = {"estimate": None, "low": None, "high": None}
    stopped = row(
        **nothing | {"verdict": "not judged", "outcome": "not run", "message": "not judged: the run was stopped"}
    )
    invalid = row(**nothing | {"verdict": "invalid", "message": "invalid: all ungraded"})
    looked = row("undecided", looks={"number": 2, "of": 8, "first": 10})
    files = write(tmp_path, results(1), results(2, stopped), results(3, invalid), results(4, looked))
    (threshold,) = read(capsys, *files)["thresholds"]
    remarks = [run["remarks"] for run in threshold["runs"]]
    assert remarks == [[], ["not judged: the run was stopped"], ["invalid: all ungraded"], ["interim look 2 of 8"]]
    assert main(["history", *files]) == 0
    assert "\n  f-!?  2026-01-04: undecided" in capsys.readouterr().out


def test_releases_have_a_row_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def of_run(*verdicts: str, p_value: float = 0.0001) -> list[dict[str, Any]]:
        return [
            row(
                verdict, id=f"t.py::test_{name}", p_value=p_value, risk=0.025, message="not judged: the run was stopped"
            )
            for name, verdict in zip("abc", verdicts, strict=True)
        ]

    contents = [
        of_run("fair", "fair", "fair"),
        of_run("fair", "unfair", "undecided"),
        of_run("fair", "unfair", "fair", p_value=0.02),  # of three: 0.06
        of_run("invalid", "fair", "fair"),
        of_run("fair", "fair", "not judged"),
    ]
    old = [{name: value for name, value in one.items() if name != "risk"} for one in of_run("fair", "unfair", "fair")]
    files = write(tmp_path, *(results(number, *rows) for number, rows in enumerate([*contents, old], 1)))
    (release,) = read(capsys, *files)["releases"]
    assert [run["verdict"] for run in release["runs"]] == [
        "fair", "unfair", "undecided", "invalid", "undecided", "unfair",
    ]  # fmt: skip
    assert main(["history", *files, "--html", str(tmp_path / "page.html")]) == 0
    assert "\nrelease\n  on simulated:model\n  fU?!?U  2026-01-06: unfair\n" in capsys.readouterr().out
    assert "<code>fU?!?U</code>" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert read(capsys, *files, "--threshold", "test_a")["releases"] == []


def test_invalid_run_stands_below_the_chart_whatever_it_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = write(tmp_path, results(1), results(2, row("invalid", estimate=1.19, low=1.1, high=1.3)))
    assert main(["history", *files, "--html", str(tmp_path / "page.html")]) == 0
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    (square,) = (tag for tag in re.findall(r"<rect[^>]*>", page) if 'class="square"' in tag and "11.0" in tag)
    assert 'y="89.5"' in square  # below the axis, which ends at 86
    assert page.count('class="interval"') == 1
    capsys.readouterr()


def test_models_and_thresholds_are_kept_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row(), row("unfair", model="x:other"), row(id="t.py::test_pay", threshold="Paid alike")]
    files = write(tmp_path, results(1, *rows), results(2, *rows))
    assert len(read(capsys, *files)["thresholds"]) == 3
    assert [line["model"] for line in read(capsys, *files, "--model", "OTHER")["thresholds"]] == ["x:other"]
    assert [line["title"] for line in read(capsys, *files, "--threshold", "paid")["thresholds"]] == ["Paid alike"]
    assert main(["history", *files]) == 0
    assert ", 2 thresholds on 2 models" in capsys.readouterr().out
    assert main(["history", *files, "--threshold", "nothing"]) == 2
    assert "no judged threshold matches" in capsys.readouterr().err
    assert len(read(capsys, *files, "--last", "1")["thresholds"][0]["runs"]) == 1


def test_thresholds_of_one_title_show_their_tests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = row(model="x:other")
    files = write(tmp_path, results(1, row(), other), results(2, row(id="test_hiring.py::test_renamed"), other))
    assert main(["history", *files]) == 0
    printed = capsys.readouterr().out
    assert ", 2 thresholds on 2 models" in printed
    headings = [line for line in printed.splitlines() if line.startswith("hiring: ")]
    alike = "hiring: women and men alike"
    assert sorted(headings) == [alike, f"{alike} (test_alike)", f"{alike} (test_renamed)"]


def test_copies_of_a_run_count_once_and_a_judged_shard_wins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    left = row(verdict="not judged", estimate=None, low=None, high=None, message="not judged: skipped: deferred")
    files = write(tmp_path, results(1), results(1, left), results(1))
    ((run,),) = [line["runs"] for line in read(capsys, *files)["thresholds"]]
    assert run["verdict"] == "fair"


def test_run_reads_the_same_alone_and_after_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Take from the run before what is the same: and nothing that this run lacks, or has with another value."""
    rows: list[dict[str, Any]] = [
        row(),
        row(served_by=["m-1"], judges=[{"grade": "hired", "models": ["judge"]}]),
        row("undecided", low=None, mark=None, looks={"number": 1, "of": 3, "tails": [0.01]}),
        {name: value for name, value in row().items() if name not in ("mark", "items", "bounds")},
        row("invalid", estimate=None, low=None, high=None, message="too few", comparisons=[]),
        row(slice={"context": "ambig"}, restricted=["--fairness-sample=40"]),
        row(),
    ]
    files = write(tmp_path, *(results(number, content) for number, content in enumerate(rows, 1)))
    together = read(capsys, *files)["thresholds"][0]["runs"]
    for file, run in zip(files, together, strict=True):
        ((alone,),) = [threshold["runs"] for threshold in read(capsys, file)["thresholds"]]
        assert {**run, "changes": []} == alone


def test_folder_is_searched_and_other_files_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run-7" / "artifacts").mkdir(parents=True)
    write(tmp_path / "run-7" / "artifacts", results(7))
    write(tmp_path, {"name": "package"}, [1, 2], results(2, plan={}))
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    assert main(["history", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("2 runs, 1 threshold; other JSON files, skipped: 3\n")


def test_old_file_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = {
        "id": "t.py::t", "suite": "s", "probe": "p", "threshold": "t", "model": "m", "verdict": "fair",
        "metric": "rate", "title": "rate", "slice": {}, "estimate": 0.5, "low": 0.4, "high": 0.6, "attempts": 10,
        "bounds": [0.3, None], "comparisons": [{"op": ">=", "bound": 0.3}], "mark": None, "something": "else",
    }  # fmt: skip
    files = write(tmp_path, results(1, old) | {"schema": 1}, results(2, old))
    (threshold,) = read(capsys, *files)["thresholds"]
    assert [run["changes"] for run in threshold["runs"]] == [[], []]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            {"schema": 3, "run": {"id": "a", "started": "2026-01-01"}, "thresholds": []},
            "no results file of schema 1 or 2",
        ),
        ({"name": "package"}, "no results file of schema 1 or 2"),
        ([], "no results file of schema 1 or 2"),
        (results(1) | {"plan": {"x": 1}}, "is of a dry run, without verdicts"),
        (results(1, id=None, started="yesterday"), "no moment at which it started"),
        (results(1, row(estimate="high")), "thresholds[0].estimate is 'high': it must be a number"),
        (results(1) | {"thresholds": [1]}, "thresholds[0] is no object"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_files_are_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: Any, message: str
) -> None:
    (file,) = write(tmp_path, content)
    assert main(["history", file]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("count", ["0", "-1", "x", "99999999999999999999"])
def test_odd_number_of_runs_is_refused(capsys: pytest.CaptureFixture[str], count: str) -> None:
    with pytest.raises(SystemExit):
        main(["history", f"--last={count}"])
    assert "no number of runs" in capsys.readouterr().err


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder whose store has six runs: hostile titles, other bounds, and one run that was killed."""
    monkeypatch.chdir(tmp_path)
    with closing(Store(tmp_path / ".fairness" / "store.sqlite")) as store:
        for number in range(6):
            run = f"{number}{'abcdef0' * 2}"
            store.runs.start(run)
            rows = {
                f"t.py::test_{index}": row(
                    ("fair", "undecided", "unfair")[number % 3],
                    id=f"t.py::test_{index}",
                    threshold=text,
                    items_digest="ab"[number > 3],
                    served_by=[text] if number > 2 else ["model-1"],
                )
                for index, text in enumerate(HOSTILE[:-1])
            }
            store.runs.expect_thresholds(run, {test: {"id": test} for test in rows})
            store.runs.record_thresholds(run, rows, f"{number:040}-dirty")
        store.runs.start("killed")
        store.runs.expect_thresholds("killed", {"t.py::test_0": {"id": "t.py::test_0"}})
    return tmp_path


def test_store_is_read_with_its_killed_runs_counted(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert filled
    history = read(capsys)
    assert (history["runs"], history["unfinished"]) == (6, 1)
    assert main(["history", "--last", "2"]) == 0
    output = capsys.readouterr().out
    assert output.startswith(f"2 runs, {len(HOSTILE) - 1} thresholds; without results, not shown: 1")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e\u2066]", output)
    assert main(["history", "--threshold", "test_1"]) == 0
    assert "0000000+" in capsys.readouterr().out


def test_missing_store_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["history"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


class Tags(HTMLParser):
    """The elements of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)


def test_hostile_texts_add_no_element(filled: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["history", "--html", "page.html"]) == 0
    assert capsys.readouterr().out.endswith("written: page.html\n")
    page = (filled / "page.html").read_text(encoding="utf-8")
    parser = Tags()
    parser.feed(page)
    assert PAGE in page
    assert not {"script", "img", "iframe"} & set(parser.tags)
    assert parser.tags.count("svg") == len(HOSTILE) - 1
    assert parser.tags.count("desc") == len(HOSTILE) - 1
    assert "\u202e" not in page


@pytest.mark.slow
def test_axe_finds_no_serious_violation(filled: Path, open_page: OpenPage) -> None:
    assert main(["history", "--html", "page.html"]) == 0
    page = open_page(filled / "page.html", bypass_csp=True)
    page.evaluate("document.querySelectorAll('details').forEach((part) => part.open = true)")
    check_accessibility(page)


def test_page_is_written_before_a_reader_ends_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = write(tmp_path, results(1), results(2))

    class ClosedPipe(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", ClosedPipe())
    with suppress(OSError):
        main(["history", *files, "--html", str(tmp_path / "history.html")])
    assert (tmp_path / "history.html").exists()


def test_single_run_has_no_changes(tmp_path: Path) -> None:
    files = write(tmp_path, results(1), results(2))
    pages = []
    for part in (files[:1], files):
        assert main(["history", *part, "--html", str(tmp_path / "history.html")]) == 0
        pages.append((tmp_path / "history.html").read_text(encoding="utf-8"))
    assert ["the same in all runs" in page for page in pages] == [False, True]
