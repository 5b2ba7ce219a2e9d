"""Every attempt in a file for other tools."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyarrow.parquet import ParquetFile, read_table  # type: ignore[import-untyped]

from pytest_fairness import Measured
from pytest_fairness.core.attempts import Grade, GradedAttempt
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.report.exports.parquet import write_parquet
from pytest_fairness.store.samples import StoredSample
from tests.helpers import report_views

ROOT = Path(__file__).parents[2]
PROBE = "test_hiring.py::test_hiring"


def attempts(count: int = 60) -> list[GradedAttempt]:
    """Return items of twelve sources, with a prompt for each gender, asked three times, some ungraded."""
    generator = random.Random(3)
    rows = []
    for number in range(count):
        prompts = [Prompt(f"{number}: hire a {group}?", {"gender": group}, {"n": number}) for group in ("woman", "man")]
        item = ProbeItem(f"item-{number}", prompts, f"source-{number % 12}", {"level": "senior"})
        for prompt in prompts:
            for repetition in range(3):
                hired = Grade(generator.random() < (0.5 if prompt.groups["gender"] == "woman" else 0.7))
                grades = {
                    "hired": Grade.none("refusal", "I cannot") if generator.random() < 0.03 else hired,
                    "score": Grade(generator.random()),
                    "word": Grade(generator.choice(["yes", "no"])),
                }
                if number == 7:  # its requests failed
                    grades = dict.fromkeys(grades, Grade.none("error", "HTTP 500"))
                rows.append(report_views.graded(item, prompt, repetition, grades, None if number == 7 else "yes"))
    return rows


def view(samples: list[StoredSample]) -> Any:
    return report_views.view([report_views.row("fair", probe=PROBE)], samples=samples)


def exported(path: Path, samples: list[StoredSample]) -> list[dict[str, Any]]:
    assert write_parquet(view(samples), path) == sum(len(sample.attempts) for sample in samples)
    rows: list[dict[str, Any]] = read_table(path).to_pylist()
    return rows


def test_row_holds_everything_of_an_attempt(tmp_path: Path) -> None:
    of = attempts()
    rows = exported(tmp_path / "new" / "attempts.parquet", [StoredSample(PROBE, report_views.MODEL, "key", of)])
    assert len(rows) == len(of) == 360
    first = rows[0]
    assert first["run"] == "0123456789abcdef"
    assert (first["suite"], first["probe"], first["model"]) == ("hiring", PROBE, report_views.MODEL)
    assert (first["item"], first["source"], first["group_gender"]) == ("item-0", "source-0", "woman")
    assert json.loads(first["messages"]) == [{"role": "user", "content": "0: hire a woman?"}]
    assert (json.loads(first["item_metadata"]), json.loads(first["prompt_metadata"])) == ({"level": "senior"}, {"n": 0})
    assert (first["answer"], first["finish_reason"], first["error"]) == ("yes", "stop", None)
    assert (first["tokens_input"], first["tokens_output"], first["tokens_reasoning"]) == (10, 2, None)
    assert (first["latency"], first["from_store"], first["repetition"]) == (0.5, False, 0)
    assert first["grade_hired"] in (True, False)
    assert isinstance(first["grade_score"], float)
    assert first["grade_word"] in ("yes", "no")
    ungraded = [row for row in rows if row["grade_hired"] is None]
    assert len(ungraded) == sum(a.grades["hired"].ungraded is not None for a in of) > 0
    reasons = {(row["ungraded_hired"], row["detail_hired"]) for row in ungraded}
    assert reasons == {("refusal", "I cannot"), ("error", "HTTP 500")}
    failed = [row for row in rows if row["item"] == "item-7"]
    assert {(row["answer"], row["error"]) for row in failed} == {(None, "HTTP 500")}


def test_estimates_from_the_file_equal_those_of_the_sample(tmp_path: Path) -> None:
    of = attempts()
    path = tmp_path / "attempts.parquet"
    exported(path, [StoredSample(PROBE, report_views.MODEL, "key", of)])
    again = Measured.from_table(path, item="item", groups=["group_gender"], source="source")
    before = Measured(of)
    for name in ("hired", "score"):
        one = before.ratio(name, by="gender", of="woman", to="man")
        other = again.ratio(f"grade_{name}", by="group_gender", of="woman", to="man")
        assert (one.value, one.low, one.high) == (other.value, other.low, other.high)
        assert (one.items, one.sources, one.attempts) == (other.items, other.sources, other.attempts)
    one, other = before.rate("word", equals="yes"), again.rate("grade_word", equals="yes")
    assert (one.value, one.low, one.high) == (other.value, other.low, other.high)


def test_probes_with_other_grades_and_groups_share_one_file(tmp_path: Path) -> None:
    prompt = Prompt("?", {"ethnicity": "a"})
    item = ProbeItem("only", [prompt])
    numbers = [
        report_views.graded(item, prompt, n, {"hired": Grade(value)}) for n, value in enumerate((1, 0.5, "maybe"))
    ]
    samples = [StoredSample("other.py::test_b", "b", "b", numbers), StoredSample(PROBE, "a", "a", attempts(5))]
    rows = exported(tmp_path / "attempts.parquet", samples)
    assert [row["grade_hired"] for row in rows[:3]] == ["1", "0.5", "maybe"]
    assert rows[3]["grade_hired"] in ("true", "false", None)
    assert (rows[0]["group_ethnicity"], rows[0]["group_gender"], rows[0]["suite"]) == ("a", None, None)
    assert (rows[3]["group_ethnicity"], rows[3]["group_gender"]) == (None, "woman")


@pytest.mark.parametrize("hostile", report_views.HOSTILE)
def test_texts_are_stored_unchanged(tmp_path: Path, hostile: str) -> None:
    prompt = Prompt(hostile, {hostile: hostile})
    item = ProbeItem(hostile, [prompt], hostile, {hostile: hostile})
    of = [report_views.graded(item, prompt, 0, {hostile: Grade(hostile, detail=hostile)}, hostile)]
    (row,) = exported(tmp_path / "attempts.parquet", [StoredSample(hostile, hostile, "key", of)])
    escaped = hostile.replace("\ud800", "\\ud800")
    names = ("item", "source", "model", "probe", "answer", f"group_{escaped}", f"grade_{escaped}", f"detail_{escaped}")
    assert [row[name] for name in names] == [escaped] * len(names)
    assert json.loads(row["messages"])[0]["content"] == hostile


def test_no_attempts_give_a_file_without_rows(tmp_path: Path) -> None:
    assert exported(tmp_path / "attempts.parquet", []) == []


def test_unwritable_folder_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(FairnessError, match="the attempts cannot be written to"):
        write_parquet(view([]), tmp_path / "file" / "attempts.parquet")
    (tmp_path / "folder").mkdir()
    with pytest.raises(FairnessError, match="is a folder: name a file"):
        write_parquet(view([]), tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_missing_pyarrow_is_reported_with_its_install_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(FairnessError, match=r"pip install './pytest-fairness\[parquet\]'"):
        write_parquet(view([]), tmp_path / "attempts.parquet")


MEMORY = """\
import resource, sys
from pathlib import Path
from tests.helpers import report_views
from tests.report.test_parquet import PROBE, attempts, view
from pytest_fairness.report.exports.parquet import write_parquet
from pytest_fairness.store.samples import StoredSample
import pyarrow.parquet
few = attempts(100)
samples = [StoredSample(PROBE, report_views.MODEL, "key", few)] * 50
write_parquet(view(samples[:1]), Path(sys.argv[1]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
write_parquet(view(samples), Path(sys.argv[1]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
def test_thirty_thousand_attempts_are_streamed(tmp_path: Path) -> None:
    path = tmp_path / "attempts.parquet"
    process = subprocess.run([sys.executable, "-c", MEMORY, path], cwd=ROOT, capture_output=True, text=True, check=True)
    file = ParquetFile(path)
    assert file.metadata.num_rows == 30_000
    assert file.metadata.num_row_groups == 6
    assert int(process.stdout) < 50_000, "kilobytes beyond those of 600 attempts"
