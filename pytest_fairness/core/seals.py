"""Seals: what the thresholds of a project must measure and compare to be fair, in a reviewed file.

The file is written before a run. A run whose parts differ is never fair, and names each part that does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.field_readers import some_text, text_of, texts_of
from pytest_fairness.core.seal_results import SEAL
from pytest_fairness.core.serialization import UNWRITTEN, checked, read_record
from pytest_fairness.core.toml_files import TomlFile

PROBES, THRESHOLDS = TABLES = "probes", "thresholds"
HEAD = f"""\
# {SEAL}: what these thresholds must measure and compare. A run in which a part differs is never fair.
# Written by `pytest-fairness seal`, which replaces it. Review every change of this file.
"""
_WAY_OUT = "`pytest-fairness seal` writes such a file"
_text = text_of("it must be a text")
_LIST = "it must be a list of texts"
_NOT_A_PART = ("id", "where")


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedProbe:
    """The parts of a probe that its thresholds depend on, each as a text that a person can review."""

    id: str = checked(some_text)
    items: str = checked(some_text)
    """The number of all its items, and a digest of their texts, groups, sources and metadata."""
    sample: tuple[str, ...] = checked(texts_of(_LIST), default=())
    """The size of each look, and a digest of the ids of its items."""
    graders: tuple[str, ...] = checked(texts_of(_LIST), default=())
    """The class of each grader by its grade, and a digest of its fingerprint and code."""
    rubrics: tuple[str, ...] = checked(texts_of(_LIST), default=())
    """The digest of each rubric of a judge."""
    controls: tuple[str, ...] = checked(texts_of(_LIST), default=())
    analysis: tuple[str, ...] = checked(texts_of(_LIST), default=())
    """Its confidence, sources and crossed factor, and a digest of its labels."""
    where: str = field(default="", metadata=UNWRITTEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedThreshold:
    """The parts of a threshold, each as a text that a person can review."""

    id: str = checked(some_text)
    """The id of its test, with the parameters that are no model."""
    title: str = checked(some_text)
    probe: str = checked(some_text)
    bounds: tuple[str, ...] = checked(texts_of(_LIST), default=())
    """The conditions that it checks: metric, slice, operator and bound."""
    slices: tuple[str, ...] = checked(texts_of(_LIST), default=())
    excluded: tuple[str, ...] = checked(texts_of(_LIST), default=())
    scale: str = checked(_text, default="")
    baseline: str = checked(_text, default="")
    """The run with which it compares."""
    code: str = checked(_text, default="")
    """A digest of its source and of the project's code that it uses."""
    where: str = field(default="", metadata=UNWRITTEN)


@dataclass(frozen=True, slots=True)
class Seal:
    """A seal: its probes and thresholds by their ids."""

    probes: Mapping[str, SealedProbe]
    thresholds: Mapping[str, SealedThreshold]
    digest: str = ""
    """The SHA-256 of its file."""

    def differences(self, threshold: SealedThreshold, probe: SealedProbe) -> list[str]:
        """Return what differs between the parts of a run and the sealed ones, each with file and line.

        Args:
            threshold: The threshold as the run has it; without bounds where they could not be evaluated.
            probe: Its probe as the run has it.

        >>> parts = dict(id="t", title="T", probe="p", slices=(), excluded=(), scale="", baseline="", code="")
        >>> sealed = SealedThreshold(**parts, bounds=("rate <= 0.1",), where="seal.toml:9")
        >>> probe = SealedProbe(id="p", items="", sample=(), graders=(), rubrics=(), controls=(), analysis=())
        >>> moved = SealedThreshold(**parts, bounds=("rate <= 0.2",))
        >>> Seal({"p": probe}, {"t": sealed}).differences(moved, probe)
        ["bounds: 'rate <= 0.1' is sealed (seal.toml:9), 'rate <= 0.2' is run"]
        """
        sealed = self.thresholds.get(threshold.id)
        if sealed is None:
            return [f"{threshold.id} is not in {SEAL}: seal it before a run"]
        sealed_probe = self.probes.get(sealed.probe)
        if sealed_probe is None:
            return [f"probe: {sealed.probe} is not in {SEAL}"]
        return [*_differences(sealed, threshold), *_differences(sealed_probe, probe)]


def _differences(sealed: Any, current: Any) -> Iterator[str]:
    for member in fields(sealed):
        then, now = getattr(sealed, member.name), getattr(current, member.name)
        if member.name in _NOT_A_PART or then == now:
            continue
        removed, added = _changed(then, now)
        is_sealed = f"{' and '.join(removed) or 'nothing else'} is sealed ({sealed.where})"
        yield f"{member.name}: {is_sealed}, {' and '.join(added) or 'nothing else'} is run"


def _changed(then: str | Sequence[str], now: str | Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the entries of a part that only one of two has, as texts."""
    first, second = ((part,) if isinstance(part, str) else part for part in (then, now))
    return (
        [repr(entry) if entry else "none" for entry in first if entry not in second],
        [repr(entry) if entry else "none" for entry in second if entry not in first],
    )


def read_seal(path: Path) -> Seal | None:
    """Return the seal of a file; None where there is none.

    Raises:
        FairnessError: The file is malformed; in one line, with file and line.
    """
    try:
        file = TomlFile.read(path, path.name)
    except FileNotFoundError:
        return None
    return parse_seal(file)


def parse_seal(file: TomlFile) -> Seal:
    """Return the seal that a file of TOML holds.

    Raises:
        FairnessError: The file is malformed; in one line, with file and line.
    """
    for key in file.document:
        if key not in TABLES:
            raise FairnessError(
                f"{file.where(key)}: the file has {key!r}: write [[{PROBES}]] and [[{THRESHOLDS}]] only; {_WAY_OUT}"
            )
    seal = Seal(
        _records(file, PROBES, SealedProbe),
        _records(file, THRESHOLDS, SealedThreshold),
        sha256(file.text.encode()).hexdigest(),
    )
    if not seal.thresholds:
        raise FairnessError(f"{file.name} seals no threshold: remove it, or write it again; {_WAY_OUT}")
    return seal


def _records(file: TomlFile, table: str, kind: Any) -> dict[str, Any]:
    entries = file.document.get(table, [])
    if not isinstance(entries, list):
        raise FairnessError(f"{file.where(table)}: {table!r} is no list of tables: write [[{table}]]; {_WAY_OUT}")
    records: dict[str, Any] = {}
    for index, entry in enumerate(entries):
        context = file.context(table, index, subject="an entry", way_out=_WAY_OUT)
        if not isinstance(entry, dict):
            raise context.error(f"an entry is {entry!r:.80}: write a table [[{table}]]")
        record = replace(read_record(kind, entry, context), where=file.where(table, index))
        if (first := records.setdefault(record.id, record)) is not record:
            raise context.error(f"{record.id!r} is at {first.where} too: keep one entry", "id")
    return records


def seal_text(probes: Iterable[SealedProbe], thresholds: Iterable[SealedThreshold]) -> str:
    """Return the text of a seal's file, sorted, with one value on each line so that changes are visible in review."""
    entries = [
        *(_entry(THRESHOLDS, record) for record in sorted(thresholds, key=lambda record: record.id)),
        *(_entry(PROBES, record) for record in sorted(probes, key=lambda record: record.id)),
    ]
    return "\n".join([HEAD, *entries])


def _entry(table: str, record: SealedProbe | SealedThreshold) -> str:
    written = [member.name for member in fields(record) if member.name != "where" and getattr(record, member.name)]
    return f"[[{table}]]\n" + "".join(f"{name} = {_value(getattr(record, name))}\n" for name in written)


def _value(value: str | Sequence[str]) -> str:
    if isinstance(value, str):
        return _quoted(value)
    entries = "".join(f"    {_quoted(entry)},\n" for entry in value)
    return f"[\n{entries}]"


def _quoted(text: str) -> str:
    r"""Return a string of TOML; a character that is not shown is escaped, so that it cannot hide a change.

    >>> print(_quoted('say "yes"\u202e'))
    "say \"yes\"\U0000202e"
    """
    shown = text.encode("utf-8", "replace").decode()
    parts = (f"\\{mark}" if mark in '"\\' else mark if mark.isprintable() else f"\\U{ord(mark):08x}" for mark in shown)
    return f'"{"".join(parts)}"'
