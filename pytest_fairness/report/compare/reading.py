"""From what the user names, a run of the store or a results file, to what it told."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from pytest_fairness.core.errors import FairnessError, StoreError
from pytest_fairness.report.compare.comparison import Comparison, Told, compare
from pytest_fairness.report.results import SCHEMA, redacted
from pytest_fairness.store.places import Place
from pytest_fairness.store.store import Store

FILE = ".json"
"""How the name of a results file ends; everything else names a run of the store."""
_PARTS = ("run", "release", "marks", "thresholds")


def read_comparison(
    runs: Sequence[str], store: Place, to: str | None = None, redact: Callable[[str], str] = str
) -> Comparison:
    """Runs by their ids, by the beginnings of them or as ``latest``, or results files; each text through ``redact``.

    Differences are paired only between runs of the store: a results file holds no single item.
    Raises `FairnessError`, in one line, for what cannot be read or compared.
    """
    files = {name: _read(Path(name), redact) for name in runs if name.endswith(FILE)}
    if len(files) == len(set(runs)):
        return compare([files[name] for name in runs], to)
    if not store.exists():
        raise StoreError(f"there is no store {store}: name it with --store, or name results files ({FILE})")
    with closing(Store(store)) as opened:
        return compare([files.get(name) or _stored(opened, name, redact) for name in runs], to)


def read_told(name: str, store: Place, redact: Callable[[str], str] = str) -> Told:
    """Return one run of the store, or one results file, each text through ``redact``."""
    if name.endswith(FILE):
        return _read(Path(name), redact)
    if not store.exists():
        raise StoreError(f"there is no store {store}: name it with --store, or name results files ({FILE})")
    with closing(Store(store)) as opened:
        return _stored(opened, name, redact)


def _stored(store: Store, name: str, redact: Callable[[str], str]) -> Told:
    run = store.runs.find(name, "document")
    document = store.runs.document(run)
    assert document is not None  # noqa: S101 - it was found by having one
    return Told(name, redacted(document["results"], redact), partial(store.runs.influences, run))


def _read(path: Path, redact: Callable[[str], str]) -> Told:
    try:
        results: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise FairnessError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise FairnessError(f"{path} holds no JSON: name a file that --fairness-json has written") from None
    for problem in _problems(results):
        raise FairnessError(f"{path} {problem}: name a file that --fairness-json of this version has written")
    return Told(path.name, redacted(results, redact), lambda _: None)


def _problems(results: Any) -> Iterator[str]:
    if not isinstance(results, dict) or results.get("schema") != SCHEMA:
        yield f"is no results file of schema {SCHEMA}"
    elif missing := [part for part in _PARTS if part not in results]:
        yield f"has no {missing[0]!r}"
    elif "plan" in results or "certify" in results:
        yield "holds a plan or a certificate, no verdicts"
    elif not _is_shaped(results):
        yield "has a run without an id, or a release or threshold without a model"


def _is_shaped(results: dict[str, Any]) -> bool:
    run, *lines = (results[part] for part in _PARTS)
    named = isinstance(run, dict) and all(isinstance(run.get(name), str) for name in ("id", "started"))
    return named and all(
        isinstance(part, list) and all(isinstance(line, dict) and isinstance(line.get("model"), str) for line in part)
        for part in lines
    )
