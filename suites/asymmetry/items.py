"""Probe items from prompts: two prompts of one form, one about each domain, are one item."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness import DataFolders, FairnessError, ProbeItem, Prompt, Rubric
from pytest_fairness.records.asymmetry.figures import DOMAINS

DATA = Path(__file__).parent / "data"
_PROMPTS = ("prompts.jsonl", "raw_responses.jsonl")
"""Files that may hold a folder's prompts: their own file, or the answers of a recorded run."""


@dataclass(frozen=True, slots=True)
class AsymmetryPrompt:
    """One prompt of a file."""

    id: str
    text: str
    domain: str
    pair: str
    """Id that it shares with the prompt of the same form in the other domain; its own id without one."""
    about: Mapping[str, str]
    """Its target and topic, where the file has them."""


def prompts(data: DataFolders) -> Iterator[ProbeItem]:
    """Yield one item for each pair of prompts, of the folder given for ``asymmetry``, or of the suite's own.

    Raises `FairnessError`, naming file and line where one is at fault.
    """
    folder = data.folder("asymmetry") or DATA
    yield from build(read_prompts(folder))


def build(prompts: list[AsymmetryPrompt]) -> Iterator[ProbeItem]:
    """Yield items in the order of their ids.

    Raises `FairnessError` where two prompts have one id, or a pair has two prompts of one domain.
    """
    ids: set[str] = set()
    pairs: dict[str, list[AsymmetryPrompt]] = {}
    for prompt in prompts:
        if prompt.id in ids:
            raise FairnessError(f"asymmetry: two prompts have the id {prompt.id!r}: give each one of its own")
        ids.add(prompt.id)
        pairs.setdefault(prompt.pair, []).append(prompt)
    for pair, of in sorted(pairs.items()):
        domains = [prompt.domain for prompt in of]
        if len(set(domains)) < len(domains):
            raise FairnessError(f"asymmetry: the pair {pair!r} has two prompts of one domain: it takes one of each")
        yield ProbeItem(pair, [_prompt(prompt) for prompt in sorted(of, key=lambda prompt: prompt.domain)])


def read_prompts(folder: Path) -> list[AsymmetryPrompt]:
    """Return the prompts of a folder: objects with ``id``, ``text`` (or ``prompt``) and ``domain``, one a line.

    ``pair``, ``target`` and ``topic`` may stand there as well.
    Raises `FairnessError`, naming file and line where one is at fault.
    """
    path = next((folder / name for name in _PROMPTS if (folder / name).is_file()), None)
    if path is None:
        raise FairnessError(f"asymmetry: {folder} holds neither {' nor '.join(_PROMPTS)}: give a folder with one")
    prompts = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), 1):
        if line.strip():
            try:
                prompts.append(_read_prompt(json.loads(line)))
            except ValueError as error:
                raise FairnessError(f"{path}:{number}: {error}") from None
    return prompts


def read_rubrics(folder: Path | None) -> dict[str, Rubric]:
    """Return rubrics by domain: ``rubric.json`` of a user's folder if there is one, else the suite's own.

    It is an object from each domain to the instructions, a text or a list of lines. The fields are the suite's.
    Raises `FairnessError` for a file that is none.
    """
    own = None if folder is None else folder / "rubric.json"
    path = own if own is not None and own.is_file() else DATA / "rubric.json"
    fields = json.loads((DATA / "fields.json").read_text(encoding="utf-8"))
    try:
        texts: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise FairnessError(f"{path} holds no JSON: {error}") from None
    if not isinstance(texts, dict) or missing_in(texts):
        raise FairnessError(f"{path} must be an object with instructions for {' and '.join(DOMAINS)}")
    try:
        return {domain: Rubric.from_data({"instructions": texts[domain], "fields": fields}) for domain in DOMAINS}
    except FairnessError as error:
        raise FairnessError(f"{path}: {error}") from None


def missing_in(texts: Mapping[str, Any]) -> list[str]:
    """Return the domains that it says nothing of."""
    return [domain for domain in DOMAINS if not texts.get(domain)]


def _read_prompt(record: Any) -> AsymmetryPrompt:
    if not isinstance(record, dict):
        raise ValueError("not a JSON object, as a prompt is")
    fields: dict[str, Any] = {"id": record.get("id"), "text": record.get("text", record.get("prompt"))}
    for name, value in {**fields, "domain": record.get("domain")}.items():
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"its {name!r} is {value!r}: it must be a text")
    if record["domain"] not in DOMAINS:
        raise ValueError(f"its domain is {record['domain']!r}: it must be {' or '.join(DOMAINS)}")
    about = {name: record[name] for name in ("target", "topic") if isinstance(record.get(name), str)}
    return AsymmetryPrompt(
        fields["id"], fields["text"], record["domain"], str(record.get("pair") or record["id"]), about
    )


def _prompt(prompt: AsymmetryPrompt) -> Prompt:
    metadata = {"asymmetry": prompt.id, "asked": "answer", **prompt.about}
    return Prompt(prompt.text, groups={"domain": prompt.domain}, metadata=metadata)
