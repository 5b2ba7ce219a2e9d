"""Frozen designs: a file reproduces its numbers anywhere, and an invalid one is refused in one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness import FairnessError
from pytest_fairness.cli.main import main
from pytest_fairness.design import (
    EMOTION,
    CallableStudent,
    EmotionBenchmark,
    Frozen,
    LinearReader,
    Target,
    design,
    train,
)

AGAIN = """
import json, sys, torch
from pathlib import Path
torch.set_num_threads(2)
from pytest_fairness.design import Frozen
figures = Frozen.read(Path(sys.argv[1])).again()
print(json.dumps({name: figure.value for name, figure in figures.items()}))
"""


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the frozen winner of a short design for a trained student."""
    benchmark = EmotionBenchmark(train(seed=1, settings=4, epochs=1), samples=120)
    result = design(benchmark, EMOTION, objective=Target(1.3), iterations=2, fresh=3)
    path = tmp_path_factory.mktemp("frozen") / "design.json"
    Frozen.of(result, benchmark).write(path)
    return path


@pytest.mark.slow
def test_frozen_file_reproduces_its_numbers_in_another_process(frozen: Path, tmp_path: Path) -> None:
    """Read the file alone: in another folder, with nothing else, and with another number of threads."""
    path = tmp_path / "copied.json"
    path.write_bytes(frozen.read_bytes())
    source = str(Path(__file__).parents[2])
    process = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {source!r})\n{AGAIN}", path.name],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    figures = Frozen.read(path).figures
    assert json.loads(process.stdout) == {name: figure.value for name, figure in figures.items()}


def test_changed_number_is_found(frozen: Path, tmp_path: Path) -> None:
    document = json.loads(frozen.read_text(encoding="utf-8"))
    document["figures"]["accuracy_ratio"]["value"] += 0.001
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    (difference,) = Frozen.read(path).differences()
    assert difference.startswith("accuracy_ratio is ")


def test_frozen_items_come_from_unseen_seeds(frozen: Path) -> None:
    stored = Frozen.read(frozen)
    seen = {*stored.seeds, *stored.search["seeds"]}
    assert len(seen) == 3 + 2
    assert stored.items_seed not in seen


def test_both_kinds_of_items_are_the_same_samples(frozen: Path) -> None:
    stored = Frozen.read(frozen)
    described, addressed = list(stored.described_items(20)), list(stored.feature_items(20))
    assert [item.id for item in described] == [item.id for item in addressed]
    labels = [
        [[prompt.metadata["label"] for prompt in item.prompts] for item in items] for items in (described, addressed)
    ]
    assert labels[0] == labels[1]
    assert {prompt.groups["neurotype"] for item in described for prompt in item.prompts} == {
        "neurotypical",
        "alexithymic",
    }
    readings = stored.readings(stored.made_student(), 20)
    assert len(readings) == 40
    assert set(readings["alexithymic", 0]) >= {"emotion", "confidence"}


def test_linear_reader_is_restored() -> None:
    benchmark = EmotionBenchmark(LinearReader(0.25), samples=20)
    frozen = Frozen.of(design(benchmark, EMOTION, iterations=1, fresh=1), benchmark)
    assert frozen.made_student() == LinearReader(0.25)


def test_callable_student_cannot_be_frozen() -> None:
    import torch

    benchmark = EmotionBenchmark(
        CallableStudent(lambda features: torch.eye(8)[features[:, 0, :8].argmax(1)]), samples=20
    )
    result = design(benchmark, EMOTION, iterations=1, fresh=1)
    with pytest.raises(FairnessError, match="a CallableStudent, which no file can hold"):
        Frozen.of(result, benchmark)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({"schema": 2}, "is no emotion benchmark of schema 1"),
        ({"parameters": {"noise_level": 3}}, "noise_level is 3: it must be a number from 0 to 0.5"),
        ({"student": {"kind": "classifier", "safetensors": "%%%"}}, "the weights in a frozen file are damaged"),
        ({"student": {"kind": "pickle"}}, "a frozen student is 'pickle'"),
        ({"student": {"kind": "model", "name": "openai:x"}}, "is the language model openai:x"),
        ({"figures": 3}, "is no frozen benchmark"),
    ],
)
def test_damaged_file_is_refused_in_one_line(frozen: Path, tmp_path: Path, change: dict[str, Any], wrong: str) -> None:
    document = json.loads(frozen.read_text(encoding="utf-8"))
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps({**document, **change}), encoding="utf-8")
    with pytest.raises(FairnessError) as raised:
        Frozen.read(path).made_student()
    assert wrong in str(raised.value)
    assert "\n" not in str(raised.value)


def test_design_command_designs_and_freezes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["design", "--student", "linear", "--samples", "60", "--iterations", "2", "--out", "made.json"]) == 0
    output = capsys.readouterr().out
    assert "  1  1.5, 0.3, 0.7, 0.1, on  ratio " in output
    assert "prosody ratio = " in output
    assert Frozen.read(tmp_path / "made.json").differences() == []
    options = ["--student", "linear", "--samples", "60", "--iterations", "3", "--objective", "front", "--out", "f.json"]
    assert main(["design", *options, "--designer", "rs-ppr"]) == 0
    assert "Pareto front" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        (["--designer", "optimiser"], "designer is 'optimiser': did you mean 'optimizer'?"),
        (["--student", "trainee"], "student is 'trainee': did you mean 'trained'?"),
        (["--student", "none.safetensors"], "none.safetensors"),
        (["--iterations", "0"], "iterations is 0: it must be at least 1"),
        (["--target", "-1"], "target is -1.0: a ratio is above 0"),
        (["--threshold", "0"], "threshold is 0.0: it must be above 0"),
        (["--objective", "worst", "--accuracy", "1.5"], "accuracy is 1.5: it must lie from 0 to below 1"),
        (["--samples", "0"], "--samples is 0: it must be at least 2"),
        (["--student", "openai:x?nonsense=1"], "nonsense"),
        (["--out", "/dev/null/x.json"], "/dev/null/x.jsonl"),
    ],
)
def test_command_mistakes_are_reported_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    wrong: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["design", "--student", "linear", *options]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert wrong in lines[0]


def test_existing_record_is_refused_before_a_student_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "design.jsonl").write_text("a record\n", encoding="utf-8")
    assert main(["design"]) == 2
    printed = capsys.readouterr()
    assert "design.jsonl is there already: continue it by --resume" in printed.err
    assert "training" not in printed.out


def test_api_works_without_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from pytest_fairness.design import *\n"
        "from pytest_fairness.design import design, BestOfTarget, Space, NumericParameter\n"
        "space = Space({'x': NumericParameter(0, 2, 'x')}, {'x': 2.0})\n"
        "result = design(lambda p, s: {'accuracy_ratio': p['x']}, space, iterations=6)\n"
        "print(result.best.loss < 1)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "True"
