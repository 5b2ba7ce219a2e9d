"""From prompts to probe items: two prompts of one form, one about each domain, are one item."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.graders.rubric import Rubric
from pytest_fairness.stats.asymmetry import DOMAINS

DATA = Path(__file__).parent / "data"
_PROMPTS = ("prompts.jsonl", "raw_responses.jsonl")
"""Where a folder's prompts are: in a file of their own, or in that of a recorded run's answers."""


class Folders(Protocol):
    """What the session tells a suite about its data."""

    def folder(self, suite: str) -> Path | None:
        """The folder given by ``--fairness-data suite=DIR``, or None."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One prompt of a file."""

    id: str
    text: str
    domain: str
    pair: str
    """What it shares with the prompt of the same form in the other domain; its own id where there is none."""
    about: Mapping[str, str]
    """Its target and topic, where the file has them."""


def prompts(data: Folders) -> Iterator[ProbeItem]:
    """One item for each pair of prompts, of the folder given for ``asymmetry``, or of the suite's own.

    Raises `FairnessError`, naming file and line where one is at fault.
    """
    folder = data.folder("asymmetry") or DATA
    yield from build(read_prompts(folder))


def build(asked: list[Asked]) -> Iterator[ProbeItem]:
    """Items in the order of their ids.

    Raises `FairnessError` where two prompts have one id, or a pair has two prompts of one domain.
    """
    ids: set[str] = set()
    pairs: dict[str, list[Asked]] = {}
    for each in asked:
        if each.id in ids:
            raise FairnessError(f"asymmetry: two prompts have the id {each.id!r}: give each one of its own")
        ids.add(each.id)
        pairs.setdefault(each.pair, []).append(each)
    for pair, of in sorted(pairs.items()):
        domains = [each.domain for each in of]
        if len(set(domains)) < len(domains):
            raise FairnessError(f"asymmetry: the pair {pair!r} has two prompts of one domain: it takes one of each")
        yield ProbeItem(pair, [_prompt(each) for each in sorted(of, key=lambda each: each.domain)])


def read_prompts(folder: Path) -> list[Asked]:
    """The prompts of a folder: objects with ``id``, ``text`` (or ``prompt``) and ``domain``, one a line.

    ``pair``, ``target`` and ``topic`` may stand there as well.
    Raises `FairnessError`, naming file and line where one is at fault.
    """
    path = next((folder / name for name in _PROMPTS if (folder / name).is_file()), None)
    if path is None:
        raise FairnessError(f"asymmetry: {folder} holds neither {' nor '.join(_PROMPTS)}: give a folder with one")
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), 1):
        if line.strip():
            try:
                found.append(_asked(json.loads(line)))
            except ValueError as error:
                raise FairnessError(f"{path}:{number}: {error}") from None
    return found


def read_rubrics(folder: Path | None) -> dict[str, Rubric]:
    """By domain: ``rubric.json`` of a user's folder where there is one, else the suite's own.

    It is an object from each domain to the instructions, a text or a list of lines. The fields are the suite's.
    Raises `FairnessError` for a file that is none.
    """
    own = None if folder is None else folder / "rubric.json"
    path = own if own is not None and own.is_file() else DATA / "rubric.json"
    fields = json.loads((DATA / "fields.json").read_text(encoding="utf-8"))
    try:
        told: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise FairnessError(f"{path} holds no JSON: {error}") from None
    if not isinstance(told, dict) or missing_in(told):
        raise FairnessError(f"{path} must be an object with instructions for {' and '.join(DOMAINS)}")
    try:
        return {domain: Rubric.from_data({"instructions": told[domain], "fields": fields}) for domain in DOMAINS}
    except FairnessError as error:
        raise FairnessError(f"{path}: {error}") from None


def missing_in(told: Mapping[str, Any]) -> list[str]:
    """The domains that it says nothing of."""
    return [domain for domain in DOMAINS if not told.get(domain)]


def _asked(record: Any) -> Asked:
    if not isinstance(record, dict):
        raise ValueError("not a JSON object, as a prompt is")
    told: dict[str, Any] = {"id": record.get("id"), "text": record.get("text", record.get("prompt"))}
    for name, value in {**told, "domain": record.get("domain")}.items():
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"its {name!r} is {value!r}: it must be a text")
    if record["domain"] not in DOMAINS:
        raise ValueError(f"its domain is {record['domain']!r}: it must be {' or '.join(DOMAINS)}")
    about = {name: record[name] for name in ("target", "topic") if isinstance(record.get(name), str)}
    return Asked(told["id"], told["text"], record["domain"], str(record.get("pair") or record["id"]), about)


def _prompt(asked: Asked) -> Prompt:
    metadata = {"asymmetry": asked.id, "asked": "answer", **asked.about}
    return Prompt(asked.text, groups={"domain": asked.domain}, metadata=metadata)
