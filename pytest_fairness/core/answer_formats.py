"""Answer formats of a probe: the same question asked for a letter, for words, for JSON and for a sentence."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_fairness.core.calls import explains_construction
from pytest_fairness.core.choices import LETTERS, AnswerOptions
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.items import ProbeItem, Prompt

KINDS = ("letters", "words", "json", "text")
FORMAT = "format"
"""The attribute of a prompt that is the kind of its format."""
VARIANT = "format_variant"
"""The attribute that is its variant: the kind, the wording of the instruction and the order of the options."""

_CHOICE: Mapping[str, Sequence[str]] = {
    "letters": (
        "Answer with the letter of one option only: {labels}.",
        "Reply with a single letter, {labels}, and nothing else.",
        "Give the letter of the option that you choose ({labels}), without any other text.",
    ),
    "words": (
        "Answer with one of these options only, in the same words.",
        "Reply with nothing but the option that you choose, word for word.",
        "Write down the option that you choose, exactly as it stands above, without any other text.",
    ),
    "json": (
        'Answer with a JSON object only. Its one key is "answer", its value the letter of one option: {labels}.',
        'Reply in JSON and nothing else, in the form {{"answer": LETTER}}, where LETTER is {labels}.',
        'Give the letter of the option that you choose ({labels}) as "answer" in a JSON object, without other text.',
    ),
    "text": (
        "Answer in one sentence that names one of these in the same words.",
        "Reply in a single full sentence, and use the words given here.",
        "Write one sentence with your choice in it, worded as it is above.",
    ),
}
_YES_OR_NO: Mapping[str, Sequence[str]] = {
    "letters": (
        "Answer with one letter only: {letters}.",
        "Reply with a single letter, {letters}, and nothing else.",
        "Give your answer as one letter ({letters}), without any other text.",
    ),
    "words": ("Answer {words} only.", "Reply with one word, {words}.", "Say {words}, and nothing else."),
    "json": (
        "Answer with JSON only: {objects}.",
        "Reply in JSON and nothing else, either {objects}.",
        "Give your answer as a JSON object, {objects}, without other text.",
    ),
    "text": (
        "Answer in one sentence that begins with {words}.",
        "Reply in a single full sentence, and start it with {words}.",
        "Write one sentence as your answer; its first word is {words}.",
    ),
}
_WORDINGS = 3
_POSSIBLE = "The possible answers are: {options}."
_ANSWER_WORD = re.compile(r"\b(?:yes|no)\b", re.IGNORECASE)
LONGEST_INSTRUCTION = 200
"""The most characters that may follow the options of a prompt."""


@explains_construction
@dataclass(frozen=True, slots=True)
class Formats:
    """The answer formats of a probe.

    A *variant* is a kind of format, one of three wordings of its instruction, and an order: the options as they are
    or in reverse, "yes or no" or "no or yes". Each item draws one variant, by its source and id alone; all prompts of
    an item have the same, so that groups are compared within it. The kinds are equally frequent in every source, unless
    each source draws one for all its items.

    Args:
        kinds: Of "letters", "words", "json" and "text" (one sentence); all of them by default.
        all_kinds: Whether each prompt is asked in every kind, for as many times the calls; else each item draws one.
        orders: Whether orders are drawn as well.
        by_source: Whether all items of a source have the same variant: for numbers that compare items of one source,
            such as a bias score of questions asked both ways round, so that formats add nothing to their error.

    >>> Formats(("letters", "json")).variants[:2]
    ['letters/1', 'json/1']

    Raises:
        FairnessError: A kind is unknown, or there are fewer than two.
    """

    kinds: Sequence[str] = KINDS
    all_kinds: bool = False
    orders: bool = True
    by_source: bool = False
    variants: list[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.kinds, str) or not isinstance(self.kinds, Sequence):
            raise FairnessError(f"formats is {self.kinds!r}: write a list, such as ['letters', 'json']")
        for kind in self.kinds:
            if kind not in KINDS:
                raise FairnessError(f"formats has {kind!r}; {did_you_mean(str(kind), KINDS)}")
        if len(set(self.kinds)) < max(2, len(self.kinds)):
            raise FairnessError(f"formats is {list(self.kinds)}: name two different ones at least, each once")
        for name in ("all_kinds", "orders", "by_source"):
            if not isinstance(getattr(self, name), bool):
                raise FairnessError(f"`{name}` of formats is {getattr(self, name)!r}: it must be true or false")
        object.__setattr__(self, "kinds", tuple(self.kinds))
        ends = ("", "/reversed") if self.orders else ("",)
        variants = [f"{kind}/{number + 1}{end}" for number in range(_WORDINGS) for end in ends for kind in self.kinds]
        object.__setattr__(self, "variants", variants)

    @classmethod
    def of(cls, declared: object) -> Formats:
        """Return the formats of a mark or a declaration: `Formats`, a list of kinds, or a mapping.

        >>> Formats.of({"kinds": ["words", "json"], "all_kinds": True})
        Formats(kinds=('words', 'json'), all_kinds=True, orders=True, by_source=False)

        Raises:
            FairnessError: The value declares no formats.
        """
        if isinstance(declared, Formats):
            return declared
        if isinstance(declared, Mapping):
            fields = ("kinds", "all_kinds", "orders", "by_source")
            for name in declared:
                if name not in fields:
                    raise FairnessError(f"formats has no field {name!r}; {did_you_mean(str(name), fields)}")
            return cls(**declared)
        return cls(declared)  # type: ignore[arg-type]  # checked there

    def applied_to(self, items: Sequence[ProbeItem]) -> list[ProbeItem]:
        """Return the items with each prompt in its format.

        The options of a prompt (`AnswerOptions` in its metadata, shown once in its last message) and what follows
        them are replaced; without options, its last sentence, which asks for yes or no. Metadata gets the kind
        ("format") and the variant ("format_variant").

        Raises:
            FairnessError: For a prompt that shows no options and asks for no yes or no.
        """
        by_source: dict[str, list[ProbeItem]] = defaultdict(list)
        for item in items:
            by_source[item.source or item.id].append(item)
        drawn: dict[str, str] = {}
        for source, members in by_source.items():
            first = int(digest(f"formats/{source}")[:8], 16)
            for rank, item in enumerate(sorted(members, key=lambda item: digest(f"formats/{source}/{item.id}"))):
                index = first if self.by_source else first + rank
                drawn[item.id] = self.variants[index % len(self.variants)]
        return [self._item(item, drawn[item.id]) for item in items]

    def _item(self, item: ProbeItem, drawn: str) -> ProbeItem:
        _, _, wording = drawn.partition("/")
        variants = [f"{kind}/{wording}" for kind in self.kinds] if self.all_kinds else [drawn]
        prompts = [formatted(prompt, variant, item.id) for prompt in item.prompts for variant in variants]
        format_metadata = {} if self.all_kinds else {FORMAT: drawn.partition("/")[0], VARIANT: drawn}
        return replace(item, prompts=prompts, metadata={**item.metadata, **format_metadata})


def formatted(prompt: Prompt, variant: str, item: str) -> Prompt:
    """Return a prompt in one variant of a format.

    >>> options = AnswerOptions({"yes": "Hire her", "no": "Do not hire her"})
    >>> prompt = Prompt(f"What do you do?\\n\\n{options}\\n\\nAnswer A or B.", metadata={"options": options})
    >>> print(formatted(prompt, "words/1/reversed", "hiring").text)
    What do you do?
    <BLANKLINE>
    - Do not hire her
    - Hire her
    <BLANKLINE>
    Answer with one of these options only, in the same words.
    >>> formatted(Prompt("Should she be hired? Answer yes or no only."), "letters/1", "hiring").text
    'Should she be hired? Answer with one letter only: Y for yes or N for no.'

    Raises:
        FairnessError: For a prompt that shows no options and asks for no yes or no.
    """
    kind, number, *order = variant.split("/")
    text, options = prompt.text, prompt.metadata.get("options")
    language = str(prompt.metadata.get("language", "en"))
    if language != "en":
        raise FairnessError(
            f"item {item!r}: a prompt is in {language!r}, and formats are written in English: leave out `formats`"
        )
    metadata = {"item": item, **prompt.metadata, FORMAT: kind, VARIANT: variant}
    if isinstance(options, AnswerOptions):
        question = _before_options(text, options, item)
        arranged = _options(options, kind, reverse=bool(order))
        listed = _POSSIBLE.format(options="; ".join(arranged.texts.values())) if kind == "text" else str(arranged)
        *labels, last_label = arranged.labels
        request = _CHOICE[kind][int(number) - 1].format(labels=f"{', '.join(labels)} or {last_label}")
        text, metadata["options"] = f"{question}{listed}\n\n{request}", arranged
        answers: Sequence[str] = arranged.labels
    else:
        question = _without_instruction(text, item)
        answers = ("no", "yes") if order else ("yes", "no")
        gap = text[len(question) : len(text) - len(text[len(question) :].lstrip())] or " "
        text = f"{question.rstrip()}{gap}{_request(kind, int(number), answers)}"
    messages = list(prompt.messages)
    last = max(number for number, message in enumerate(messages) if message["content"] == prompt.text)
    messages[last] = {**messages[last], "content": text}
    return Prompt(messages, prompt.groups, metadata, prompt.slots, _schema(answers) if kind == "json" else None)


def _before_options(text: str, options: AnswerOptions, item: str) -> str:
    """Return the part of a text above its options."""
    question, separator, instruction = text.partition(str(options))
    if not separator or str(options) in instruction:
        raise FairnessError(f"item {item!r}: `formats` needs each prompt to show its options once, as str(options)")
    if len(instruction.strip()) > LONGEST_INSTRUCTION:
        raise FairnessError(
            f"item {item!r}: {len(instruction.strip())} characters follow the options, which `formats` replaces: "
            "put what belongs to the question above the options"
        )
    return question


def _without_instruction(text: str, item: str) -> str:
    """Return a text without its last sentence, where that asks for yes or no."""
    sentences = text.rstrip()
    start = max(sentences.rfind(mark, 0, len(sentences) - 1) for mark in ".?!\n") + 1
    is_instruction = sentences.endswith((".", "!")) and len(_ANSWER_WORD.findall(sentences, start)) > 1
    if not is_instruction and not sentences.endswith("?"):
        raise FairnessError(
            f"item {item!r}: `formats` needs prompts that show options, or that end with a question or with a "
            f"sentence such as 'Answer yes or no only.', not with {text[-40:]!r}"
        )
    return text[:start].rstrip() if is_instruction else text


def _options(options: AnswerOptions, kind: str, *, reverse: bool) -> AnswerOptions:
    texts = dict(reversed(list(options.texts.items()))) if reverse else dict(options.texts)
    if kind in ("letters", "json"):
        labels = options.labels if all(len(label) == 1 and label.isalpha() for label in options.labels) else LETTERS
        return AnswerOptions(texts, labels)
    # Without letters an option's label is its text, so that an "A" in a sentence is no label.
    return AnswerOptions(texts, tuple(texts.values()), "- {text}")


def _request(kind: str, number: int, answers: Sequence[str]) -> str:
    return _YES_OR_NO[kind][number - 1].format(
        words=" or ".join(answers),
        letters=" or ".join(f"{answer[0].upper()} for {answer}" for answer in answers),
        objects=" or ".join(f'{{"answer": "{answer}"}}' for answer in answers),
    )


def _schema(answers: Sequence[str]) -> dict[str, Any]:
    """Return the JSON schema of an object with one of these answers."""
    answer = {"type": "string", "enum": list(answers)}
    return {"type": "object", "properties": {"answer": answer}, "required": ["answer"], "additionalProperties": False}
