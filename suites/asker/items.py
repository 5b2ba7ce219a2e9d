"""Items: one task by askers of some identity, and by askers who disclose something else. README.md has the method."""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pytest_fairness import AnswerOptions, ProbeItem, Prompt

QUESTIONS, AMOUNTS, ADVICE = 10, 10, 10
"""Identities that a task of each probe is asked with: each in turn, but for those that matter to it."""
FORMS = ("turn", "memory", "profile")
"""Places of an asker's words: an earlier turn, a memory, or the profile in an application's system prompt."""
DISCLOSED, NEUTRAL = "disclosed", "neutral"
VALUES = ("first", "second", "third", "fourth")
"""Options of a question: what is right by the first facts, by the second, and two that never are."""
NEAREST = 3
"""Neutral sentences about as long as a disclosure, of which one is drawn."""
_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Sentence:
    """A sentence of askers about themselves, in their words and in those of a memory."""

    statement: str
    note: str


def questions(*, count: int = QUESTIONS) -> Iterator[ProbeItem]:
    """Yield questions with one right answer, which the rule or the numbers in them decide.

    Args:
        count: Identities that a question is asked with.

    >>> item = next(questions())
    >>> [prompt.groups["asker"] for prompt in item.prompts], item.metadata["field"]
    (['disclosed', 'neutral'], 'tax')
    """
    for record, identity, form, turn, chance in _askers("questions", count):
        facts = turn % 2
        shown = list(VALUES[: len(record["options"])])
        chance.shuffle(shown)
        options = AnswerOptions({value: record["options"][VALUES.index(value)] for value in shown})
        text = record["text"].format(fact=record["facts"][facts])
        own = {"label": VALUES[facts], "options": options}
        request = f"{text}\n\n{options}\n\n{_texts(record)['letter']}"
        about = {"facts": VALUES[facts], "field": record["field"]}
        yield _item(record, identity, form, chance, [(request, own)], about)


def amounts(*, count: int = AMOUNTS) -> Iterator[ProbeItem]:
    """Yield requests for a sum to ask for: a salary, a fee, a price; with a strong and a weak case for a high one.

    Args:
        count: Identities that a request is made with.
    """
    for record, identity, form, _, chance in _askers("amounts", count):
        ask = _texts(record)["number"].format(**{name: record[name] for name in ("low", "high", "unit")})
        requests = [
            (f"{record['text'].format(fact=fact)}\n\n{ask}", {"case": case, "scale": [record["low"], record["high"]]})
            for case, fact in zip(("strong", "weak"), record["facts"], strict=True)
        ]
        yield _item(record, identity, form, chance, requests)


def advice(*, count: int = ADVICE) -> Iterator[ProbeItem]:
    """Yield questions that are answered in the model's own words: by turns in two sentences, and in detail.

    Args:
        count: Identities that a question is asked with.
    """
    for record, identity, form, turn, chance in _askers("advice", count):
        length = ("long", "short")[turn % 2]
        request = f"{record['text']} {_texts(record)[length]}"
        yield _item(record, identity, form, chance, [(request, {})], {"length": length})


def _askers(kind: str, count: int) -> Iterator[tuple[dict[str, Any], str, str, int, random.Random]]:
    """Yield tasks with an identity, a form, a number that takes turns, and a generator of their own."""
    start = 0
    uses: Counter[str] = Counter()
    for record in _records(kind):
        allowed = [one for one in identities() if (record["id"], one) not in exclusions()]
        for identity in ((allowed * 2)[start % len(allowed) :])[: min(count, len(allowed))]:
            turn = uses[identity] + identities().index(identity)
            chance = random.Random(f"asker/{record['id']}/{identity}")
            yield record, identity, FORMS[turn % len(FORMS)], turn, chance
            uses[identity] += 1
        start += count


def _item(
    record: Mapping[str, Any],
    identity: str,
    form: str,
    chance: random.Random,
    requests: Sequence[tuple[str, Mapping[str, Any]]],
    about: Mapping[str, str] | None = None,
) -> ProbeItem:
    """Return requests by an asker of an identity, and by one who discloses as much about something else.

    Args:
        record: The task.
        identity: The identity.
        form: One of `FORMS`.
        chance: The generator of what is drawn.
        requests: Texts, each with the metadata of its prompts.
        about: What else is known of the item.
    """
    language = record["language"]
    disclosure = chance.choice(_sentences(language, identity))
    near = sorted(_sentences(language, "neutral"), key=lambda one: abs(len(one.statement) - len(disclosure.statement)))
    neutral, more = chance.choice(near[:NEAREST]), chance.choice(_sentences(language, "filler"))
    prompts = [
        Prompt(_messages(language, form, (sentence, more), request), groups={"asker": asker}, metadata=dict(own))
        for request, own in requests
        for asker, sentence in ((DISCLOSED, disclosure), (NEUTRAL, neutral))
    ]
    metadata = {"identity": identity, "form": form, "language": language, "task": record["id"], **(about or {})}
    return ProbeItem(f"{record['id']}-{identity.replace(' ', '-')}", prompts, source=record["id"], metadata=metadata)


def _messages(language: str, form: str, sentences: Sequence[Sentence], request: str) -> list[Any]:
    """Return the messages that a request comes with, the asker's words in one of `FORMS`."""
    texts = _forms()[language]
    statement = " ".join(f"{one.statement}." for one in sentences)
    task = {"role": "user", "content": request}
    if form == "turn":
        return [
            {"role": "user", "content": texts["hello"].format(statement=statement)},
            {"role": "assistant", "content": texts["reply"]},
            task,
        ]
    notes = "\n".join(f"- {one.note}." for one in sentences)
    return [{"role": "system", "content": texts[form].format(statement=statement, notes=notes)}, task]


@cache
def identities() -> list[str]:
    """Return all identities, in the order of the data."""
    kinds = dict.fromkeys(record["kind"] for record in _records("disclosures"))
    return [kind for kind in kinds if kind not in ("neutral", "filler")]


@cache
def exclusions() -> frozenset[tuple[str, str]]:
    """Return the tasks and identities that never meet, since the identity matters to the task."""
    with (_DATA / "exclusions.csv").open(encoding="utf-8", newline="") as lines:
        return frozenset((row["task"], row["identity"]) for row in csv.DictReader(lines))


def _texts(record: Mapping[str, Any]) -> Mapping[str, str]:
    return _forms()[record["language"]]


@cache
def _sentences(language: str, kind: str) -> list[Sentence]:
    return [
        Sentence(record["statement"], record["note"])
        for record in _records("disclosures")
        if (record["language"], record["kind"]) == (language, kind)
    ]


@cache
def _forms() -> dict[str, dict[str, str]]:
    forms: dict[str, dict[str, str]] = json.loads((_DATA / "forms.json").read_text(encoding="utf-8"))
    return forms


@cache
def _records(kind: str) -> list[dict[str, Any]]:
    lines = (_DATA / f"{kind}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
