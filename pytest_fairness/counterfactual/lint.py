"""Checks that the prompts of one item differ only in the slots that they mark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_ARTICLES = ("a", "an")
_ARTICLE = re.compile(r"\b([Aa]n?)\s+[(\"'\u201c\u2018]?(\w+)")
_PRONOUNS: tuple[Mapping[str, tuple[str, ...]], ...] = tuple(
    {"they": (they,), "them": (them,), "their": (their,), "theirs": (theirs,), "themself": tuple(themself)}
    for they, them, their, theirs, *themself in (
        ("she", "her", "her", "hers", "herself"),
        ("he", "him", "his", "his", "himself"),
        ("they", "them", "their", "theirs", "themself", "themselves"),
        ("xe", "xem", "xyr", "xyrs", "xemself"),
        ("ze", "hir", "hir", "hirs", "hirself"),
        ("ey", "em", "eir", "eirs", "emself"),
        ("fae", "faer", "faer", "faers", "faerself"),
        ("ve", "ver", "vis", "vis", "verself"),
    )
)
# Written with a vowel and spoken without one, and the other way round.
_CONSONANT = re.compile(
    r"(?:uni(?![nm])|use|usu|uti|ukr|ugand|urug|uran|ural|uyg|eu|ewe|one(?!r)|once|ouija)", re.IGNORECASE
)
_VOWEL = re.compile(r"(?:hour|honest|honou?r|heir|8|1[18](?!\d))", re.IGNORECASE)
_SPELLED = re.compile(r"[AEFHILMNORSX](?:[A-Z]+|\b)")
_GENDERED = {form for kind in _PRONOUNS[:2] for forms in kind.values() for form in forms}
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class LintResult:
    """Lengths and pronouns of an item whose prompts differ in their slots alone."""

    characters: tuple[int, int]
    """Characters of its shortest and its longest prompt."""
    tokens: tuple[int, int]
    """Words and marks, likewise. What a model takes for a token is its own affair."""
    pronouns: tuple[str, ...]
    """Pronouns such as "she" that stand in every prompt: right only if they refer to another person."""


def lint(item: ProbeItem) -> LintResult:
    """Check that prompts of one item differ in their declared slots alone.

    `Prompt.slots` declares: what stands in each slot, as it stands in the text (a first
    letter may be a capital). A slot can be empty, or not be used. Compared are words, marks and spaces,
    each prompt with the first. Refused are also: what fills a slot of one prompt and stands outside any slot in all of
    them (a name or pronoun that was left in; of the slot ``name`` each of its words); pronouns
    that do not go together (slots ``they``, ``them``, ``their``, ``theirs``, ``themself``); and "a" for "an"
    at a slot, unless ``metadata["language"]`` is another than "en".

    >>> def prompt(name, they, their):
    ...     slots = {"name": name, "they": they, "their": their}
    ...     return Prompt(f"{name} has applied. Is {their} CV good?", slots=slots)
    >>> lint(ProbeItem("cv", [prompt("Emily Walsh", "she", "her"), prompt("James Novak", "he", "his")]))
    LintResult(characters=(40, 40), tokens=(10, 10), pronouns=())
    >>> emily = prompt("Emily Walsh", "she", "her")
    >>> james = Prompt(emily.text.replace("Emily Walsh", "James Novak"), slots={"name": "James Novak"})
    >>> lint(ProbeItem("cv", [emily, james]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    pytest_fairness.core.errors.FairnessError: item 'cv', prompts 1 and 2: 'her' fills a slot of one and stands ...

    Raises `FairnessError` that shows the words.
    """
    for number, prompt in enumerate(item.prompts, start=1):
        _check_pronouns(item, number, prompt)
        _check_articles(item, number, prompt)
    first, *others = item.prompts
    alike: set[str] = set()
    for number, prompt in enumerate(others, start=2):
        words = set(_check_pair(item, number, first, prompt))
        alike = words if number == 2 else alike & words
    texts = [_text(prompt) for prompt in item.prompts]
    tokens = [len(part) - sum(map(str.isspace, part)) for part in map(_tokens, texts)]
    spoken = {word.lower() for word in alike} & _GENDERED if _is_english(first) else set()
    characters = [len(text) for text in texts]
    return LintResult((min(characters), max(characters)), (min(tokens), max(tokens)), tuple(sorted(spoken)))


def is_counterfactual(item: ProbeItem) -> bool:
    """Return whether any prompt of an item declares slots."""
    return any(prompt.slots for prompt in item.prompts)


@dataclass(frozen=True, slots=True)
class LintReport:
    """Results of `lint` for many items together."""

    items: int = 0
    characters: int = 0
    """The most by which prompts of one item differ in length."""
    tokens: int = 0
    pronouns: tuple[str, ...] = ()

    def __add__(self, other: LintReport) -> LintReport:
        return LintReport(
            self.items + other.items,
            max(self.characters, other.characters),
            max(self.tokens, other.tokens),
            tuple(sorted({*self.pronouns, *other.pronouns})),
        )

    def __str__(self) -> str:
        if not self.items:
            return ""
        lengths = [(self.characters, "character"), (self.tokens, "token")]
        by = " and ".join(f"{number} {what}{'' if number == 1 else 's'}" for number, what in lengths)
        differ = "items differ" if self.items > 1 else "item differs"
        sentence = f"{self.items:,} counterfactual {differ} in slots alone, in length by up to {by}"
        if self.pronouns:
            sentence += f"; outside the slots, whoever it is about, stands {', '.join(map(repr, self.pronouns))}"
        return sentence


def lint_all(items: Iterable[ProbeItem]) -> LintReport:
    """Lint those items that declare slots.

    Raises `FairnessError` for the first whose prompts differ in more.
    """
    report = LintReport()
    for item in items:
        if is_counterfactual(item):
            one = lint(item)
            (least, most), (fewest, longest) = one.characters, one.tokens
            report += LintReport(1, most - least, longest - fewest, one.pronouns)
    return report


@lru_cache(maxsize=4096)
def _tokens(text: str) -> list[str]:
    """Return words, marks and white space; the list is shared, so it must not be changed."""
    return _TOKEN.findall(text)


def _text(prompt: Prompt) -> str:
    return "\n".join(message["content"] for message in prompt.messages)


def _is_english(prompt: Prompt) -> bool:
    return str(prompt.metadata.get("language", "en")) == "en"


def _check_pair(item: ProbeItem, number: int, first: Prompt, second: Prompt) -> list[str]:
    """Return the words that are alike in both. Raises where others than those of slots are not."""
    one, two = _tokens(_text(first)), _tokens(_text(second))
    pairs = list(_pairs(first.slots, second.slots))
    fixed, places = _aligned(one, two, pairs)
    if places is not None:
        at, there = places
        raise FairnessError(
            f"item {item.id!r}, prompts 1 and {number} differ outside their slots: {_word(one, at)!r} and "
            f"{_word(two, there)!r}, in {_around(one, at)} and {_around(two, there)}: "
            "declare the words as a slot, or write them alike"
        )
    left = _left_in(fixed, first.slots, second.slots)
    if left is not None:
        raise FairnessError(
            f"item {item.id!r}, prompts 1 and {number}: {left!r} fills a slot of one and stands outside it "
            f"in both, in {_around(fixed, _position(fixed, left))}: put the slot there, or use another word"
        )
    return fixed


def _pairs(first: Mapping[str, str], second: Mapping[str, str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield what one prompt has where the other has something else, the longest first."""
    pairs = []
    for slot in first.keys() & second.keys():
        ours, theirs = first[slot], second[slot]
        if ours != theirs:
            pairs.append((ours, theirs))
            pairs.append((_capital(ours), _capital(theirs)))
    for ours, theirs in sorted(set(pairs), key=lambda pair: (-len(pair[0]) - len(pair[1]), pair)):
        yield _tokens(ours), _tokens(theirs)


def _aligned(
    one: Sequence[str], two: Sequence[str], pairs: Sequence[tuple[list[str], list[str]]]
) -> tuple[list[str], tuple[int, int] | None]:
    """Return the words that are alike outside the slots, and the place in each text from which on they are not."""
    starts = {tokens[0] for pair in pairs for tokens in pair if tokens}
    fixed: list[str] = []
    here = there = 0
    while here < len(one) or there < len(two):
        # Most words begin no slot: they are compared up to the next that does.
        run = next((position for position in range(here, len(one)) if one[position] in starts), len(one)) - here
        if run and one[here : here + run] == two[there : there + run]:
            fixed += one[here : here + run]
            here, there = here + run, there + run
            continue
        for ours, theirs in pairs:
            if one[here : here + len(ours)] == ours and two[there : there + len(theirs)] == theirs:
                here, there = here + len(ours), there + len(theirs)
                fixed.append("")
                break
        else:
            if one[here : here + 1] != two[there : there + 1]:
                return fixed, (here, there)
            fixed += one[here : here + 1]
            here, there = here + 1, there + 1
    return fixed, None


def _left_in(fixed: Sequence[str], first: Mapping[str, str], second: Mapping[str, str]) -> str | None:
    words = set(fixed)
    for slot in {**first, **second}:
        ours, theirs = first.get(slot, ""), second.get(slot, "")
        if ours == theirs:
            continue
        for value in (ours, theirs):
            parts = {value, *value.split()} if slot == "name" else {value}
            for part in sorted(parts | {_capital(part) for part in parts}, key=len, reverse=True):
                if words.isdisjoint(_tokens(part)[:1]) or part.lower() in _ARTICLES:
                    continue
                if any(map(str.isalpha, part)) and _position(fixed, part) is not None:
                    return part
    return None


def _position(fixed: Sequence[str], value: str) -> int | None:
    """Return the position of a value in a text, as whole words."""
    wanted = _tokens(value)
    places = (position for position, word in enumerate(fixed) if word == wanted[0])
    return next((position for position in places if list(fixed[position : position + len(wanted)]) == wanted), None)


def _check_pronouns(item: ProbeItem, number: int, prompt: Prompt) -> None:
    given = {slot: value for slot, value in prompt.slots.items() if slot in _PRONOUNS[0]}
    forms = {form for kind in _PRONOUNS for values in kind.values() for form in values}
    pronouns = {value for value in given.values() if value in forms}
    fitting = [
        kind for kind in _PRONOUNS if all(value in kind[slot] for slot, value in given.items() if value in pronouns)
    ]
    if pronouns and not fitting:
        values = ", ".join(f"{slot} is {value!r}" for slot, value in given.items())
        raise FairnessError(
            f"item {item.id!r}, prompt {number} has pronouns that do not go together: {values}: give those of one kind"
        )


def _check_articles(item: ProbeItem, number: int, prompt: Prompt) -> None:
    """Refuse "a" before a vowel or "an" before none, where the one or the other is a slot's."""
    if not _is_english(prompt):
        return
    starts = {tokens[0] for tokens in map(_tokens, prompt.slots.values()) if tokens}
    starts |= {_capital(word) for word in starts}
    for article, word in _ARTICLE.findall(_text(prompt)):
        if starts & {article, word} and (article.lower() == "an") != begins_with_vowel(word):
            raise FairnessError(
                f"item {item.id!r}, prompt {number} says {f'{article} {word}'!r}: make the article part of the slot"
            )


def begins_with_vowel(word: str) -> bool:
    """Return whether "an" stands before it: by its sound, as far as its letters tell."""
    if _VOWEL.match(word):
        return True
    if word.isupper() and word.isalpha():
        return _SPELLED.match(word) is not None
    return word[0].lower() in "aeiou" and _CONSONANT.match(word) is None


def _capital(value: str) -> str:
    return value[:1].upper() + value[1:]


def _word(tokens: Sequence[str], position: int) -> str:
    return next((token for token in tokens[position:] if not token.isspace()), "")


def _around(tokens: Sequence[str], position: int | None) -> str:
    """Return a few words about a place, in quotation marks."""
    middle = position or 0
    shown = "".join(tokens[max(0, middle - _SHOWN) : middle + _SHOWN])
    return f'"{" ".join(shown.split())}"'
