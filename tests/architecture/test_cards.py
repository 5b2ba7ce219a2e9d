"""Cards of the shipped suites: each threshold has its figures, as the benchmarks wrote them."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "tests" / "benchmarks" / "figures"
SUITES = sorted(path.parent.name for path in (ROOT / "suites").glob("*/README.md"))
QUESTIONS = (
    "What is claimed",
    "Population",
    "Sampling of items",
    "Confounds checked",
    "Formats",
    "Languages",
    "Groups left out",
    "What a verdict does not say",
)
LEAST = 0.8
"""The share of a fair model's runs that a suite's whole gate passes, and of runs that find bias of twice the bound."""
TWICE = 2.0


def thresholds(suite: str) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield the test of each threshold of a suite, with the arguments of its mark and of its probe's."""
    for path in sorted((ROOT / "suites" / suite).glob("test_*.py")):
        module = import_module(f"suites.{suite}.{path.stem}")
        for name, function in inspect.getmembers(module, inspect.isfunction):
            for mark in getattr(function, "pytestmark", []):
                if mark.name == "threshold" and function.__module__ == module.__name__:
                    probes = [other for other in mark.kwargs["probe"].pytestmark if other.name == "probe"]
                    yield f"{suite}/{path.name}::{name}", mark.kwargs, probes[0].kwargs


def rows(suite: str) -> dict[str, dict[str, Any]]:
    return {row["test"]: row for row in json.loads((FIGURES / f"{suite}.json").read_text(encoding="utf-8"))}


@pytest.mark.parametrize("suite", SUITES)
def test_every_shipped_threshold_has_its_figures(suite: str) -> None:
    figures = rows(suite)
    declared = {test: (mark["title"], probe.get("repetitions", 1)) for test, mark, probe in thresholds(suite)}
    assert {test: (row["title"], row["repetitions"]) for test, row in figures.items()} == declared


@pytest.mark.parametrize("suite", SUITES)
def test_every_shipped_threshold_can_pass_and_is_certified(suite: str) -> None:
    for test, row in rows(suite).items():
        assert sum(row["fair"]) >= LEAST * len(row["fair"]) >= LEAST * 100, test
        assert row["certified"].get("kept", bool(row["certified"]["reason"])), test


@pytest.mark.parametrize("suite", SUITES)
def test_bias_of_twice_the_bound_is_found_by_the_gate(suite: str) -> None:
    shares = {
        test: unfair / of
        for test, row in rows(suite).items()
        for times, _, unfair, _, of in row["sizes"]["gate"]
        if times == TWICE
    }
    assert shares
    assert min(shares.values()) >= LEAST, shares


@pytest.mark.parametrize("suite", SUITES)
def test_a_card_answers_the_checklist(suite: str) -> None:
    card = (ROOT / "suites" / suite / "README.md").read_text(encoding="utf-8")
    assert [question for question in QUESTIONS if f"\n| {question} | " not in card] == []


def test_cards_hold_what_their_command_writes() -> None:
    process = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "benchmarks" / "cards.py"), "--check"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr


@pytest.mark.parametrize("suite", SUITES)
def test_whole_gates_pass_a_fair_model(suite: str) -> None:
    probes: dict[str, list[list[bool]]] = {}
    for row in rows(suite).values():
        probes.setdefault(row["probe"], []).append(row["fair"])
    share = 1.0
    for fair in probes.values():
        share *= sum(map(all, zip(*fair, strict=True))) / len(fair[0])
    assert share >= LEAST
