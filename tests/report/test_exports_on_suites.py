"""Every export on shipped suites: it writes its files, or ends with one line that says what the run lacks."""

from __future__ import annotations

import pytest

from pytest_fairness.cli.main import main
from pytest_fairness.core.extensions import EXPORTS
from tests.helpers.finished_run import run_shipped
from tests.helpers.project import Project

SUITES = ("agents", "asymmetry", "bbq", "hiring")
ARGUMENTS = {
    "asymmetry": [],
    "bbq-pairs": [],
    "cyclonedx": ["--model", "simulated:demo"],
    "every-eval-ever": ["--model", "simulated:demo"],
    "impact-ratios": ["--grade", "advance", "--sex", "gender", "--ethnicity", "ethnicity"],
    "labels": ["--grade", "advance", "--by", "gender", "--count", "2"],
    "opentelemetry": [],
    "parquet": [],
    "test-report": ["--model", "simulated:demo"],
}
WRITES = {
    "asymmetry": {"asymmetry"},
    "bbq-pairs": {"bbq"},
    "cyclonedx": set(SUITES),
    "every-eval-ever": set(SUITES),
    "impact-ratios": {"hiring"},
    "labels": {"hiring"},
    "opentelemetry": set(SUITES),
    "parquet": set(SUITES),
    "test-report": set(SUITES),
}
"""The suites whose runs have what an export writes."""
REASONS = {
    "asymmetry": "the run has no sample of asymmetry",
    "bbq-pairs": "the run has no sample of pairs",
    "impact-ratios": "no probe of the run has a grade 'advance'",
    "labels": "no probe has a grade 'advance'",
}


@pytest.mark.slow
@pytest.mark.parametrize("suite", SUITES)
def test_every_export_writes_or_ends_with_one_line(
    suite: str, project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """Export a run on a simulated model, of every kind of probe and of some items of each."""
    alike = "--ignore-glob=*/hiring/test_languages.py"  # a probe as the one in English; of gender there is one
    simulated = ("--fairness-model=simulated:demo", "--fairness-judge=simulated:judge", "--fairness-sample=5")
    measured = run_shipped(project, f"suites/{suite}", "-m", "threshold", alike, *simulated)
    assert measured.code in (1, 10, 11), measured.output
    capsys.readouterr()
    own = [name for name in EXPORTS.names() if name in ARGUMENTS]
    assert own == sorted(ARGUMENTS)
    for name in own:
        out = project.path / f"{name}.out"
        where = ["--store", str(project.store), "--out", str(out)]
        code = main(["export", name, "latest", *where, *ARGUMENTS[name]])
        captured = capsys.readouterr()
        assert (code == 0) == (suite in WRITES[name]) == out.exists(), (name, captured)
        if code:
            (line,) = captured.err.splitlines()
            assert REASONS[name] in line
        else:
            assert len(captured.out.splitlines()) == 1
            assert any(file.stat().st_size for file in [out, *out.rglob("*")])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["impact-ratios"], "the following arguments are required"),
        (["nothing"], "invalid choice"),
    ],
)
def test_missing_arguments_are_named(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["export", *arguments, "latest", "--out", "x"])
    assert words in capsys.readouterr().err
