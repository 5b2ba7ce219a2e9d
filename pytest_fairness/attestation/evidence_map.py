"""The evidence map: clauses of laws and standards, and rules for the thresholds that are relevant to each.

The map of this package is ``evidence.toml`` in the folder of this module. A file of the project adds clauses to it; an
entry with the framework and clause of another replaces that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from pytest_fairness import FairnessError
from pytest_fairness.extending import (
    UNWRITTEN,
    EvidenceResult,
    EvidenceThreshold,
    ThresholdResult,
    TomlFile,
    checked,
    field_readers,
)

TABLE = "clause"
SHIPPED = Path(__file__).with_name("evidence.toml")
_WAY_OUT = "docs/evidence.md has an example"
_ADDRESS = re.compile(r"https?://[^\s\"'<>\\]+")

Rule = Mapping[str, Sequence[str]]
"""Patterns by property: a threshold matches if one pattern of each property does."""


def _address(value: object) -> str:
    text = field_readers.line_of_text(value)
    if not _ADDRESS.fullmatch(text):
        raise ValueError("write an address that begins with https://")
    return text


_patterns = field_readers.texts_of('write a list of texts, such as ["*"]')


@dataclass(frozen=True, slots=True, kw_only=True)
class _WrittenRule:
    """The properties of a threshold that a rule can match."""

    suite: Sequence[str] = checked(_patterns, default=())
    probe: Sequence[str] = checked(_patterns, default=())
    threshold: Sequence[str] = checked(_patterns, default=())
    harm: Sequence[str] = checked(_patterns, default=())
    attribute: Sequence[str] = checked(_patterns, default=())


RULE_FIELDS = tuple(field.name for field in fields(_WrittenRule))
"""The properties of a threshold that rules can match."""


def _rules(written: Sequence[_WrittenRule]) -> tuple[Rule, ...]:
    rules = tuple({name: patterns for name in RULE_FIELDS if (patterns := getattr(rule, name))} for rule in written)
    if not all(rules):
        raise ValueError(f"a rule is empty: name at least one of {', '.join(RULE_FIELDS)}")
    return rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One clause of the map, as an entry has it."""

    framework: str = checked(field_readers.line_of_text)
    clause: str = checked(field_readers.line_of_text)
    subject: str = checked(field_readers.line_of_text)
    relation: str = checked(field_readers.line_of_text)
    status: str = checked(field_readers.line_of_text, default="")
    source: str = checked(_address)
    as_of: date | None = checked(field_readers.day, default=None)
    """The day on which it was checked against its text."""
    match: Sequence[Rule] = checked(
        _rules,
        written=Sequence[_WrittenRule],
        rule='write a list of rules, as in [{suite = ["hiring"], attribute = ["gender"]}]',
    )
    where: str = field(default="", metadata=UNWRITTEN)
    """The file and the line of the entry."""

    @property
    def key(self) -> tuple[str, str]:
        """Its framework and name, which identify it."""
        return self.framework, self.clause

    def matches(self, row: ThresholdResult) -> bool:
        """Return whether a threshold is relevant to the clause: whether it matches one of the rules."""
        return any(rule_matches(rule, row) for rule in self.match)


def rule_matches(rule: Rule, row: ThresholdResult) -> bool:
    """Return whether a threshold has, for every property of a rule, a value that one of its patterns matches.

    Args:
        rule: Patterns by property; ``*`` and ``?`` are wildcards, and case counts.
        row: The threshold.

    >>> result = {"id": "test_a.py::test_alike[m]", "suite": "hiring", "attribute": "gender"}
    >>> row = ThresholdResult.from_json(result, "results.json", strict=False)
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
        own = _clauses(TomlFile.read(path, path.name))
    except FileNotFoundError:
        raise FairnessError(f"pyproject.toml: evidence names {path}: there is no such file; {_WAY_OUT}") from None
    own_keys = {clause.key for clause in own}
    return [clause for clause in clauses if clause.key not in own_keys] + own


@cache
def _shipped_clauses() -> tuple[Clause, ...]:
    return tuple(_clauses(TomlFile.read(SHIPPED, "pytest-fairness")))


def _clauses(file: TomlFile) -> list[Clause]:
    clauses: dict[tuple[str, str], Clause] = {}
    for clause, context in file.records(Clause, TABLE, _WAY_OUT):
        if (first := clauses.setdefault(clause.key, clause)) is not clause:
            raise context.error(f"{' '.join(clause.key)!r} is at {first.where} too: keep one entry")
    return list(clauses.values())


class EvidenceMap:
    """The clauses of this package and of a project, as a run asks them for evidence.

    Args:
        path: The file of the project; None where it has none.

    Raises:
        FairnessError: The file is missing or malformed; the message has file and line.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.clauses = read_clauses(path)

    def results(self, rows: Sequence[ThresholdResult]) -> list[EvidenceResult]:
        """Return the clauses to which thresholds of a run are relevant, each with these thresholds and their verdicts.

        All verdicts are listed unchanged: fair, unfair, invalid and missing ones.
        """
        results = []
        for clause in self.clauses:
            thresholds = [
                EvidenceThreshold(id=row.id, title=row.threshold, model=row.model, verdict=row.verdict)
                for row in rows
                if clause.matches(row)
            ]
            if thresholds:
                results.append(
                    EvidenceResult(
                        framework=clause.framework,
                        clause=clause.clause,
                        subject=clause.subject,
                        relation=clause.relation,
                        status=clause.status,
                        source=clause.source,
                        as_of=clause.as_of.isoformat() if clause.as_of else "",
                        where=clause.where,
                        thresholds=thresholds,
                    )
                )
        return results
