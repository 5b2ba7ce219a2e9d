"""BBQ's questions in pairs: two questions about one context, with the same three answers in the same order."""

from __future__ import annotations

import logging
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness import AnswerOptions, DataFolders, FairnessError, ProbeItem
from pytest_fairness.records.bbq.pair_records import PairRecord, read_pairs
from pytest_fairness.records.bbq.placement import Placement
from pytest_fairness.records.bbq.questions import UNKNOWN, BBQQuestion

from .data_sets import load
from .items import QUESTIONS, field_of, refuse_duplicates
from .reasoning import LABELS, OWN, SIDES, prompts

_CHOICES = ("x", "y", "w", "z")
"""The four questions, as the published records name them: the pair's two, then two of other contexts."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions, A and B, about one context, and two of other contexts that a reasoning must not fit."""

    category: str
    context_condition: str
    template: str
    example_ids: tuple[int | str, int | str]
    context: str
    questions: tuple[str, str]
    answers: AnswerOptions
    """Answers by value: "unknown" and two more values, those of the people."""
    right: tuple[str, str]
    """The value of the correct answer of each question."""
    polarities: tuple[str, str]
    others: tuple[str, str]
    orders: tuple[str, str]
    """The order in which the four questions stand when A's answer is judged, and when B's is: "wxzy"."""
    labeled: bool = True
    """Whether the four questions get labels that no text holds; recorded replies call them x, y, w and z."""

    @property
    def id(self) -> str:
        return f"{self.category}-{self.context_condition}-{self.example_ids[0]:05}-{self.example_ids[1]:05}"


def pairs(data: DataFolders) -> Iterator[ProbeItem]:
    """Yield one item per pair: of a folder of recorded pairs given for ``bbq_pairs``, else of the questions of ``bbq``.

    Skips the tests of pairs where no two of the questions make one. Raises `FairnessError` where the data cannot be
    read.
    """
    folder = data.folder("bbq_pairs")
    if folder is not None:
        yield from recorded(folder)
        return
    loaded = load(data)
    languages = sorted({question.language for question in loaded.questions} - {"en"})
    if languages:
        pytest.skip(f"bbq: pairs and their oracle are asked in English; {loaded.origin} has {', '.join(languages)}")
    items = list(build(loaded.questions, loaded.origin))
    if not items:
        pytest.skip(f"bbq: no two questions of {loaded.origin} share their context and answers")
    yield from items


def build(questions: Sequence[BBQQuestion], origin: str) -> Iterator[ProbeItem]:
    """Yield items of all questions that share context and answers with exactly one other question.

    Raises `FairnessError` where two share an id, and where a pair has no two questions of other contexts.
    """
    refuse_duplicates(questions)
    placement = Placement(questions)
    by_pool: dict[tuple[str, str], list[tuple[BBQQuestion, BBQQuestion]]] = defaultdict(list)
    for a, b in _match_questions(questions):
        by_pool[a.category, a.context_condition].append((a, b))
    pools = _questions_by_category(
        (a.category, str(a.template), (a.question, b.question)) for both in by_pool.values() for a, b in both
    )
    for category, condition in sorted(by_pool):
        for rank, (a, b) in enumerate(sorted(by_pool[category, condition], key=lambda both: both[0].example_id)):
            values = placement.values(a)
            about = f"{category}/{condition}"
            pair = Pair(
                category=category,
                context_condition=condition,
                template=str(a.template),
                example_ids=(a.example_id, b.example_id),
                context=a.context,
                questions=(a.question, b.question),
                answers=AnswerOptions(dict(zip(values, a.answers, strict=True)), LABELS),
                right=(values[a.label], values[a.answers.index(b.answers[b.label])]),
                polarities=(a.polarity, b.polarity),
                others=_draw_other_questions(pools[category], str(a.template), (a.question, b.question), about, rank),
                orders=_choose_orders(about, rank),
            )
            yield item_of(pair, origin)


def recorded(folder: Path) -> Iterator[ProbeItem]:
    """Yield items of the pairs of a recorded run, with the questions offered to its oracle, in its order.

    Raises `FairnessError` for records that cannot be read.
    """
    records = read_pairs(folder)
    # Records do not name the template of a pair. Its two questions identify nearly the same pairs.
    templates = [" / ".join(record.questions) for record in records]
    pools = _questions_by_category(
        (r.category, template, r.questions) for r, template in zip(records, templates, strict=True)
    )
    for rank, (record, template) in enumerate(zip(records, templates, strict=True)):
        about = f"{record.category}/{record.context_condition}"
        values = ["first", "second"]
        values.insert(record.unknown, UNKNOWN)
        pair = Pair(
            category=record.category,
            context_condition=record.context_condition,
            template=template,
            example_ids=record.example_ids,
            context=record.context,
            questions=record.questions,
            answers=AnswerOptions(dict(zip(values, record.choices, strict=True)), LABELS),
            right=(values[record.correct[0]], values[record.correct[1]]),
            polarities=("neg", "nonneg"),
            others=_recorded_other_questions(record)
            or _draw_other_questions(pools[record.category], template, record.questions, about, rank),
            orders=_choose_orders(about, rank),
            labeled=False,
        )
        yield item_of(pair, f"recorded in {folder.name}")


def item_of(pair: Pair, origin: str) -> ProbeItem:
    """Return the item of a pair: its two prompts, and in its metadata the data of the oracle's questions."""
    options = dict(zip(_CHOICES, (*pair.questions, *pair.others), strict=True))
    metadata: dict[str, Any] = {
        "category": pair.category,
        "field": field_of(pair.category),
        "context": pair.context_condition,
        "question": QUESTIONS[pair.context_condition],
        "template": pair.template,
        "origin": origin,
        "example_ids": list(pair.example_ids),
        "told": pair.context,
        "answers": dict(pair.answers.texts),
        "right": list(pair.right),
        "polarities": list(pair.polarities),
        "options": options,
        "orders": list(pair.orders),
        "labeled": pair.labeled,
    }
    pair_prompts = prompts(metadata, pair.answers)
    return ProbeItem(pair.id, pair_prompts, source=f"{pair.category}/{pair.template}", metadata=metadata)


def _match_questions(questions: Sequence[BBQQuestion]) -> Iterator[tuple[BBQQuestion, BBQQuestion]]:
    sharing: dict[tuple[str, str, str, frozenset[str]], dict[str, list[BBQQuestion]]] = defaultdict(dict)
    for question in sorted(questions, key=lambda question: question.example_id):
        together = question.category, question.context_condition, question.context, frozenset(question.answers)
        sharing[together].setdefault(question.question, []).append(question)
    matched = 0
    for sides in sharing.values():
        if len(sides) == 2:
            # A context that stands several times in the data gives a pair each time.
            for first, second in zip(*sides.values(), strict=False):
                matched += 1
                yield first, second
    if 2 * matched < len(questions):
        _log.info(
            "bbq: %s of %s questions have no other to make a pair with", len(questions) - 2 * matched, len(questions)
        )


def _questions_by_category(pairs: Iterable[tuple[str, str, tuple[str, str]]]) -> dict[str, list[tuple[str, str]]]:
    """Return by category every question with the template of its context."""
    pools: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for category, template, questions in pairs:
        pools[category].update((question, template) for question in questions)
    return {category: sorted(questions) for category, questions in pools.items()}


def _draw_other_questions(
    pool: Sequence[tuple[str, str]], template: str, own: tuple[str, str], about: str, rank: int
) -> tuple[str, str]:
    """Return two questions of other contexts, drawn by the pair's rank."""
    mine = {question.casefold() for question in own}
    texts = sorted({question for question, of in pool if of != template and question.casefold() not in mine})
    if len(texts) < 2:
        raise FairnessError(
            f"bbq: the pairs of {about} need two questions of other contexts (found: {len(texts)}): "
            "give more templates of that category"
        )
    first, second = random.Random(f"{about}/others/{rank}").sample(texts, 2)
    return first, second


def _recorded_other_questions(record: PairRecord) -> tuple[str, str] | None:
    return (record.options["w"], record.options["z"]) if record.options else None


def _choose_orders(about: str, rank: int) -> tuple[str, str]:
    """Return the orders of the four questions for both sides; of four pairs, the right one is in each position once.

    They differ, so that two equal reasonings make two prompts: of equal ones only one would be sent.

    >>> sorted(_choose_orders("Age/ambig", rank)[0].index("x") for rank in range(4))
    [0, 1, 2, 3]
    """
    of_a, of_b = (_choose_order(f"{about}/{side}", rank, OWN[side]) for side in SIDES)
    return "".join(of_a), "".join(of_b if of_b != of_a else _reverse_others(of_b, OWN["b"]))


def _choose_order(about: str, rank: int, own: str) -> list[str]:
    block, turn = divmod(rank, len(_CHOICES))
    positions = list(range(len(_CHOICES)))
    random.Random(f"{about}/{block}").shuffle(positions)
    rest = [choice for choice in _CHOICES if choice != own]
    random.Random(f"{about}/rest/{rank}").shuffle(rest)
    return [*rest[: positions[turn]], own, *rest[positions[turn] :]]


def _reverse_others(order: list[str], own: str) -> list[str]:
    """Return an order with the other questions reversed, and the own one where it is."""
    rest = iter([choice for choice in reversed(order) if choice != own])
    return [own if choice == own else next(rest) for choice in order]
