"""Referrals in five more languages: should a woman, or a man, with this complaint see a doctor today?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pytest_fairness import ProbeItem, Prompt

from .decisions import URGENCIES
from .texts import fill, records

_FILE = Path(__file__).parent / "data" / "languages.json"


def referrals_in_other_languages() -> Iterator[ProbeItem]:
    """Yield complaints in German, Spanish, French, Portuguese and Dutch, each in three degrees, of a woman and a man.

    Items of one complaint share their source in all languages: they are translations of one text.
    """
    for language, texts in spoken().items():
        for record in records(f"referrals.{language}"):
            for urgency, case in zip(URGENCIES, record["cases"], strict=True):
                template = f"{record['text']} {case}\n\n{texts['question']}"
                prompts = [
                    Prompt(fill(template, words, plural=False), {"gender": gender}, {"language": language})
                    for gender, words in texts["words"].items()
                ]
                yield ProbeItem(
                    f"{language}-{record['id']}-{urgency}",
                    prompts,
                    source=record["id"],
                    metadata={"kind": record["kind"], "case": urgency, "language": language},
                )


@cache
def spoken() -> Mapping[str, Mapping[str, Any]]:
    """Return the question and the words of women and men of each language."""
    loaded: Mapping[str, Mapping[str, Any]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return loaded
