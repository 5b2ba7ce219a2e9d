"""Probe items from prompts: two prompts of one form, one about each domain, are one item."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness import DataFolders, FairnessError, ProbeItem, Prompt
from pytest_fairness.records.asymmetry.figures import DOMAINS

DATA = Path(__file__).parent / "data"
_PROMPTS = ("prompts.jsonl", "raw_responses.jsonl")
"""Files that may hold a folder's prompts: their own file, or the answers of a recorded run."""
EVIDENCE = ("supported", "mixed", "false")
"""Verdicts of the evidence on an accusation: borne out in the main, in part or in dispute, or not at all."""
ABOUT = ("target", "topic", "evidence", "source")
"""Texts on a prompt: whom it accuses, of what, what the `EVIDENCE` says, and where that can be read."""


@dataclass(frozen=True, slots=True)
class AsymmetryPrompt:
    """One prompt of a file."""

    id: str
    text: str
    domain: str
    pair: str
    """Id that it shares with the prompt of the same form in the other domain; its own id without one."""
    about: Mapping[str, str]
    """Those of `ABOUT` that the file has."""


def prompts(data: DataFolders) -> Iterator[ProbeItem]:
    """Yield one item for each pair of prompts, of the folder given for ``asymmetry``, or of the suite's own.

    Raises `FairnessError`, naming file and line where one is at fault.
    """
    folder = data.folder("asymmetry") or DATA
    yield from build(read_prompts(folder))


def build(prompts: list[AsymmetryPrompt]) -> Iterator[ProbeItem]:
    """Yield items in the order of their ids.

    Raises `FairnessError` where two prompts have one id, or a pair has two prompts of one domain, or of which the
    evidence does not say the same.
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
        if len({prompt.about.get("evidence") for prompt in of}) > 1:
            raise FairnessError(f"asymmetry: the evidence differs within the pair {pair!r}: pair what is equally true")
        yield ProbeItem(pair, [_prompt(prompt) for prompt in sorted(of, key=lambda prompt: prompt.domain)])


def read_prompts(folder: Path) -> list[AsymmetryPrompt]:
    """Return the prompts of a folder: objects with ``id``, ``text`` (or ``prompt``) and ``domain``, one a line.

    ``pair`` and the texts of `ABOUT` may stand there as well; ``evidence`` is one of `EVIDENCE`.
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


def _read_prompt(record: Any) -> AsymmetryPrompt:
    if not isinstance(record, dict):
        raise ValueError("not a JSON object, as a prompt is")
    fields: dict[str, Any] = {"id": record.get("id"), "text": record.get("text", record.get("prompt"))}
    for name, value in {**fields, "domain": record.get("domain")}.items():
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"its {name!r} is {value!r}: it must be a text")
    if record["domain"] not in DOMAINS:
        raise ValueError(f"its domain is {record['domain']!r}: it must be {' or '.join(DOMAINS)}")
    about = {name: record[name] for name in ABOUT if isinstance(record.get(name), str)}
    if about.get("evidence", EVIDENCE[0]) not in EVIDENCE:
        raise ValueError(f"its evidence is {about['evidence']!r}: it must be one of {', '.join(EVIDENCE)}")
    return AsymmetryPrompt(
        fields["id"], fields["text"], record["domain"], str(record.get("pair") or record["id"]), about
    )


def _prompt(prompt: AsymmetryPrompt) -> Prompt:
    metadata = {"asymmetry": prompt.id, "asked": "answer", **prompt.about}
    return Prompt(prompt.text, groups={"domain": prompt.domain}, metadata=metadata)
