"""The evidence map: clauses of laws and standards, and rules for the thresholds that are relevant to each.

The map of this package is ``evidence.toml`` in the folder of this module. A file of the project adds clauses to it; an
entry with the framework and clause of another replaces that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.evidence_results import EvidenceResult, EvidenceThreshold
from pytest_fairness.core.threshold_results import ThresholdResult
from pytest_fairness.core.toml_tables import TomlTable, parse_tables, read_toml_text, written_text

TABLE = "clause"
FIELDS = ("framework", "clause", "subject", "relation", "source", "match")
OPTIONAL_FIELDS = ("status",)
RULE_FIELDS = ("suite", "probe", "threshold", "harm", "attribute")
"""The properties of a threshold that rules can match."""
SHIPPED = Path(__file__).with_name("evidence.toml")
_WAY_OUT = "docs/evidence.md has an example"
_ADDRESS = re.compile(r"https?://[^\s\"'<>\\]+")

Rule = Mapping[str, Sequence[str]]
"""Patterns by property: a threshold matches if one pattern of each property does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One clause of the map."""

    entry: EvidenceResult
    """The entry of the results file, without thresholds."""
    rules: Sequence[Rule]

    @property
    def key(self) -> tuple[str, str]:
        """Its framework and name, which identify it."""
        return self.entry.framework, self.entry.clause

    def matches(self, row: ThresholdResult) -> bool:
        """Return whether a threshold is relevant to the clause: whether it matches one of the rules."""
        return any(rule_matches(rule, row) for rule in self.rules)


def rule_matches(rule: Rule, row: ThresholdResult) -> bool:
    """Return whether a threshold has, for every property of a rule, a value that one of its patterns matches.

    Args:
        rule: Patterns by property; ``*`` and ``?`` are wildcards, and case counts.
        row: The threshold.

    >>> from pytest_fairness.core.threshold_results import EstimateResult
    >>> estimate = EstimateResult(attribute="gender")
    >>> row = ThresholdResult(id="test_a.py::test_alike[m]", suite="hiring", harm="allocation", estimate=estimate)
    >>> rule_matches({"suite": ["hir*"], "attribute": ["age", "gender"]}, row)
    True
    >>> rule_matches({"suite": ["hiring"], "attribute": ["age"]}, row)
    False
    """
    return all(
        any(fnmatchcase(value, pattern) for value in _values(row, name) for pattern in patterns)
        for name, patterns in rule.items()
    )


def _values(row: ThresholdResult, name: str) -> tuple[str, ...]:
    """Return the texts of a threshold that the patterns of a property can match."""
    if name == "probe":
        probe = row.probe.partition("@")[0]
        return row.probe, probe.rpartition("::")[2]
    if name == "threshold":
        test = row.id.partition("[")[0]
        return row.threshold, test, test.rpartition("::")[2]
    if name == "attribute":
        return (row.estimate.attribute,) if row.estimate.attribute else ()
    return (row.suite if name == "suite" else row.harm,)


def read_clauses(path: Path | None = None) -> list[Clause]:
    """Return the clauses of this package, then those of a file of the project.

    Args:
        path: The file of the project.

    Raises:
        FairnessError: The file is missing or malformed; the message has file and line.
    """
    clauses = _shipped_clauses()
    if path is None:
        return [*clauses]
    try:
        own = parse_clauses(read_toml_text(path), path.name)
    except FileNotFoundError:
        raise FairnessError(f"pyproject.toml: evidence names {path}: there is no such file; {_WAY_OUT}") from None
    own_keys = {clause.key for clause in own}
    return [clause for clause in clauses if clause.key not in own_keys] + own


@cache
def _shipped_clauses() -> tuple[Clause, ...]:
    return tuple(parse_clauses(SHIPPED.read_text(encoding="utf-8"), "pytest-fairness"))


def parse_clauses(text: str, name: str) -> list[Clause]:
    """Return the clauses in the text of a map; ``name`` is the name of the file in errors."""
    clauses: dict[tuple[str, str], Clause] = {}
    for table in parse_tables(text, name, TABLE, _WAY_OUT):
        clause = _clause(table)
        if (first := clauses.setdefault(clause.key, clause)) is not clause:
            raise FairnessError(
                f"{table.where}: {' '.join(clause.key)!r} is at {first.entry.where} too: keep one entry"
            )
    return list(clauses.values())


def _clause(table: TomlTable) -> Clause:
    table.check_fields(FIELDS, OPTIONAL_FIELDS, _WAY_OUT)
    names = ("framework", "clause", "subject", "relation", *(name for name in OPTIONAL_FIELDS if name in table.content))
    texts: dict[str, Any] = {name: table.field(name, written_text) for name in names}
    entry = EvidenceResult(
        **texts,
        source=table.field("source", _address),
        where=table.where,
    )
    return Clause(entry=entry, rules=table.field("match", _rules))


def _address(value: object) -> str:
    text = written_text(value)
    if not _ADDRESS.fullmatch(text):
        raise ValueError("write an address that begins with https://")
    return text


def _rules(value: object) -> tuple[Rule, ...]:
    if not isinstance(value, list) or not all(isinstance(rule, dict) for rule in value):
        raise ValueError('write a list of rules, as in [{suite = ["hiring"], attribute = ["gender"]}]')
    return tuple(map(_rule, value))


def _rule(rule: Mapping[str, object]) -> Rule:
    if not rule:
        raise ValueError(f"a rule is empty: name at least one of {', '.join(RULE_FIELDS)}")
    patterns = {}
    for name, value in rule.items():
        if name not in RULE_FIELDS:
            raise ValueError(f"a rule has no {name!r}; {did_you_mean(name, RULE_FIELDS)}")
        if not isinstance(value, list) or not value or not all(isinstance(text, str) and text for text in value):
            raise ValueError(f'write a list of texts after {name}, such as ["*"]')
        patterns[name] = tuple(value)
    return patterns


def evidence_of(clauses: Iterable[Clause], rows: Sequence[ThresholdResult]) -> list[EvidenceResult]:
    """Return the clauses to which thresholds of a run are relevant, each with these thresholds and their verdicts.

    All verdicts are listed unchanged: fair, unfair, invalid and missing ones.
    """
    results = []
    for clause in clauses:
        thresholds = [
            EvidenceThreshold(id=row.id, title=row.threshold, model=row.model, verdict=row.verdict)
            for row in rows
            if clause.matches(row)
        ]
        if thresholds:
            results.append(replace(clause.entry, thresholds=thresholds))
    return results
