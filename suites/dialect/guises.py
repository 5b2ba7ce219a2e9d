"""Matched guises of other publishers: one meaning in a standard and in another variety."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_fairness import FairnessError
from pytest_fairness.extending import read_records
from pytest_fairness.records.audits.recorded_files import field, read_table

from .texts import MISSPELLED, STANDARD

FOLDERS = ("", "data/pairs", "data/raw/reward_bench")
"""Folders of a download in which files are looked for, the first that has some."""
COLUMNS = ("meaning", "variety", "text")
PROMPT = "prompt"
"""The field of a JSON line that is the standard; ``prompt_NAME`` is the same in the variety of that name."""
_READERS = ("*.txt", "*.csv", "*.json", "*.jsonl")


@dataclass(frozen=True)
class Guise:
    """One meaning, as it stands in a file."""

    id: str
    versions: Mapping[str, str]
    """The text of each variety by its name, that of the standard among them."""


def read_guises(folder: Path) -> Iterator[Guise]:
    """Yield the meanings of a folder, each in the standard and at least one variety that differs from it.

    Args:
        folder: A folder, or a clone of a publisher's repository that has its files in one of `FOLDERS`. Pairs of texts
            stand in ``*.txt`` (the variety, a tab, the standard; the variety is named for the file), in ``*.csv`` (the
            columns meaning, variety and text, of which one variety is *standard*), or in JSON lines (``prompt``, and
            ``prompt_NAME`` in the variety of that name).

    Raises:
        FairnessError: The folder has no such pairs, or one is malformed: one line, with its file.
    """
    files = next((paths for name in FOLDERS if (paths := _files(folder / name))), [])
    count = 0
    for path in files:
        for guise in {".txt": _of_tabs, ".csv": _of_table}.get(path.suffix, _of_lines)(path):
            standard = guise.versions[STANDARD]
            others = {name: text for name, text in guise.versions.items() if text != standard}
            if others:
                count += 1
                yield Guise(guise.id, {STANDARD: standard, **others})
    if not count:
        raise FairnessError(f"{folder} has no pairs of texts: suites/dialect/README.md describes its files")


def _files(folder: Path) -> list[Path]:
    return sorted(path for pattern in _READERS for path in folder.glob(pattern))


def _of_tabs(path: Path) -> Iterator[Guise]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FairnessError(f"{path} cannot be read: {error}") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            texts = [text.strip() for text in line.split("\t")]
            if len(texts) != 2 or not all(texts):
                raise FairnessError(f"{path}:{number}: a line needs two texts with a tab between them")
            yield _guise(f"{path}:{number}", f"{path.name}-{number}", texts[1], {path.stem: texts[0]})


def _of_table(path: Path) -> Iterator[Guise]:
    texts: dict[str, dict[str, str]] = {}
    for where, row in read_table(path):
        meaning, variety, text = (field(row, name, str, where).strip() for name in COLUMNS)
        if variety in texts.setdefault(meaning, {}):
            raise FairnessError(f"{where}: {meaning} has a second text in {variety}")
        texts[meaning][variety] = text
    for meaning, versions in texts.items():
        if STANDARD not in versions:
            raise FairnessError(f"{path}: {meaning} has no text in the variety {STANDARD!r}")
        standard = versions.pop(STANDARD)
        yield _guise(f"{path}: {meaning}", f"{path.name}-{meaning}", standard, versions)


def _of_lines(path: Path) -> Iterator[Guise]:
    for number, (where, record) in enumerate(read_records(path, "a text in several varieties"), 1):
        names = [name for name in record if name.startswith(f"{PROMPT}_")]
        versions = {name.removeprefix(f"{PROMPT}_"): field(record, name, str, where) for name in names}
        yield _guise(where, f"{path.name}-{number}", field(record, PROMPT, str, where), versions)


def _guise(where: object, identity: str, standard: str, others: Mapping[str, str]) -> Guise:
    """Return a meaning whose texts are there, and whose varieties have names of their own."""
    for name in others:
        if not name.strip() or name in (STANDARD, MISSPELLED):
            raise FairnessError(f"{where}: {name!r} is no name of a variety")
    for name, text in {STANDARD: standard, **others}.items():
        if not text.strip():
            raise FairnessError(f"{where}: the text in {name} is empty")
    return Guise(identity, {STANDARD: standard, **others})
