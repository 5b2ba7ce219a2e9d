"""Designers are compared from one start a seed, in one table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness import FairnessError
from pytest_fairness.cli.main import main
from pytest_fairness.design.designer_comparison import compare_designers, comparison_table
from pytest_fairness.design.designers.baselines import BestOfTarget, RandomReplay
from pytest_fairness.design.objectives import Target
from pytest_fairness.design.search_space import NumericParameter, Space

SPACE = Space({"x": NumericParameter(0, 2, "the ratio itself")}, start={"x": 2.0})


class Still:
    """A designer that stays where it is."""

    name = "still"

    def propose(self, task: Any, history: Sequence[Any], draws: Any) -> Any:
        from pytest_fairness.design.designers.protocol import Proposal

        return Proposal(history[-1].parameters, "here")


def ratio(point: Mapping[str, Any], seeds: Sequence[int]) -> dict[str, float]:
    return {"accuracy_ratio": point["x"]}


def test_designers_have_one_start_a_seed_and_their_own_results() -> None:
    options: Any = {"objective": Target(), "iterations": 6, "threshold": 1e-3, "seeds": range(4)}
    still, best, other = compare_designers(ratio, SPACE, [Still, BestOfTarget, RandomReplay], **options)
    assert len(set(still.gaps)) == 4, "each seed has a start of its own"
    assert all(gap <= start for gap, start in zip(best.gaps, still.gaps, strict=True))
    assert all(gap <= start for gap, start in zip(other.gaps, still.gaps, strict=True))
    assert list(still.evaluations) == [6] * 4
    assert not any(still.reached)
    assert compare_designers(ratio, SPACE, [Still], **options) == [still]


def test_search_ends_under_the_threshold_and_its_evaluations_are_counted() -> None:
    results = compare_designers(
        ratio, SPACE, [BestOfTarget], objective=Target(), iterations=60, threshold=0.1, seeds=range(5)
    )
    assert all(results[0].reached)
    assert max(results[0].gaps) < 0.1
    assert max(results[0].evaluations) < 60
    (row,) = comparison_table(results, 0.1).rows
    assert row[0] == "bon-tm"
    assert row[-1] == "5 of 5"


def test_one_seed_is_refused() -> None:
    with pytest.raises(FairnessError, match="1 seed: a comparison of designers needs at least 2"):
        compare_designers(ratio, SPACE, [Still], objective=Target(), seeds=[0])


def test_command_prints_a_row_for_each_designer_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--student", "linear", "--samples", "40", "--iterations", "2", "--seeds", "2"]
    assert main(["design", "--compare", *options]) == 0
    out = capsys.readouterr().out
    assert re.findall(r"^ (optimizer|rs-ppr|bon-tm|bon-ml) +[\d.]+%  +[\d.]+% ", out, re.MULTILINE) == [
        "optimizer", "rs-ppr", "bon-tm", "bon-ml",
    ]  # fmt: skip
    assert not list(tmp_path.iterdir())
    assert main(["design", "--compare", *options, "--designer", "bon-tm"]) == 0
    assert len(re.findall(r"^ (?:rs-ppr|bon-tm|bon-ml) ", capsys.readouterr().out, re.MULTILINE)) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--objective", "worst"], "gaps to a target are compared"),
        (["--resume"], "keeps no record"),
        (["--seeds", "1"], "at least 2"),
    ],
)
def test_incomparable_designers_are_refused(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["design", "--compare", "--student", "linear", "--samples", "20", *options]) == 2
    assert message in capsys.readouterr().err
