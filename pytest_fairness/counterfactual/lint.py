"""Checks that the prompts of one item differ only in the slots that they mark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.lazy_patterns import lazy_pattern

_TOKEN = lazy_pattern(r"\w+|\s+|[^\w\s]")
_INSIDE = lazy_pattern(r"\w\w|\s\s")
_ARTICLES = ("a", "an")
_ARTICLE = lazy_pattern(r"\b([Aa]n?)\s+[(\"'\u201c\u2018]?(\w+)")
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
_FORMS = {form for kind in _PRONOUNS for forms in kind.values() for form in forms}
# Written with a vowel and spoken without one, and the other way round.
_CONSONANT = lazy_pattern(
    r"(?:uni(?![nm])|use|usu|uti|ukr|ugand|urug|uran|ural|uyg|eu|ewe|one(?!r)|once|ouija)", re.IGNORECASE
)
_VOWEL = lazy_pattern(r"(?:hour|honest|honou?r|heir|8|1[18](?!\d))", re.IGNORECASE)
_SPELLED = lazy_pattern(r"[AEFHILMNORSX](?:[A-Z]+|\b)")
_GENDERED = {form for kind in _PRONOUNS[:2] for forms in kind.values() for form in forms}
_SHOWN = 8
_TEMPLATES = 8
"""Templates of an item at most: its prompts differ from the first in so many selections of slots."""


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
    texts = [_text(prompt) for prompt in item.prompts]
    counts = [_count(texts[0])]
    templates: list[_Template] = []
    alike: set[str] | None = None
    for number, (prompt, text) in enumerate(zip(others, texts[1:], strict=True), start=2):
        matches = (template.match(prompt, text) for template in templates)
        match = next((one for one in matches if one is not None), None)
        if match is None:
            aligned = _check_pair(item, number, first, prompt)
            match = _Match(set(aligned.fixed), _count(text))
            if len(templates) < _TEMPLATES:
                templates.append(_Template.of(first, prompt, aligned))
        alike = match.words if alike is None else alike & match.words
        counts.append(match.count)
    spoken = {word.lower() for word in alike or ()} & _GENDERED if _is_english(first) else set()
    characters = [len(text) for text in texts]
    return LintResult((min(characters), max(characters)), (min(counts), max(counts)), tuple(sorted(spoken)))


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


@dataclass(frozen=True, slots=True)
class _Alignment:
    """Two prompts side by side."""

    fixed: list[str]
    """The words that are alike; an empty one for each slot."""
    filled: list[tuple[list[str], list[str]]]
    """The words in each of these slots, of the one and the other prompt."""
    places: tuple[int, int] | None = None
    """The place in each from which on they differ, None where they do not."""


@dataclass(frozen=True, slots=True)
class _Match:
    """A prompt that differs from the first in slots alone."""

    words: set[str]
    """The words that are alike in both."""
    count: int
    """Its own words and marks."""


@dataclass(frozen=True, slots=True)
class _Template:
    """The first prompt of an item, cut at the slots in which another prompt differs: most prompts are made of it.

    One that is needs no closer look, which takes many times as long.
    """

    slots: Mapping[str, str]
    """Those of the first prompt."""
    parts: Sequence[str]
    """The texts before, between and after the slots."""
    names: Sequence[tuple[str, bool]]
    """The name of each slot, and whether its value begins with a capital here."""
    words: frozenset[str]
    count: int
    """Words and marks that stand in no slot."""

    @classmethod
    def of(cls, first: Prompt, second: Prompt, aligned: _Alignment) -> _Template:
        """Return the template of two prompts that are aligned."""
        named: dict[tuple[str, str], tuple[str, bool]] = {}
        for slot in first.slots.keys() & second.slots.keys():
            ours, theirs = first.slots[slot], second.slots[slot]
            named.setdefault((ours, theirs), (slot, False))
            named.setdefault((_capital(ours), _capital(theirs)), (slot, True))
        names = [named["".join(ours), "".join(theirs)] for ours, theirs in aligned.filled]
        parts = [""]
        for word in aligned.fixed:
            if word:
                parts[-1] += word
            else:
                parts.append("")
        return cls(first.slots, parts, names, frozenset(aligned.fixed), sum(map(_count, aligned.fixed)))

    def match(self, prompt: Prompt, text: str) -> _Match | None:
        """Return how a prompt is made of this template; None where that takes a closer look."""
        made, same, count = self.parts[0], set[str](), self.count
        for part, (slot, is_capital) in zip(self.parts[1:], self.names, strict=True):
            value = prompt.slots.get(slot, "")
            if not value or _are_one(made[-1:] + value[0]) or _are_one(value[-1] + part[:1]):
                return None
            value = _capital(value) if is_capital else value
            made += value + part
            count += _count(value)
            if prompt.slots[slot] == self.slots[slot]:
                same.update(_tokens(value))
        if made != text:
            return None
        words = self.words | same
        for slot in {**self.slots, **prompt.slots}:
            ours, theirs = self.slots.get(slot, ""), prompt.slots.get(slot, "")
            if ours != theirs and not words.isdisjoint(_first_words(ours, slot) | _first_words(theirs, slot)):
                return None
        return _Match({*words}, count)


def _are_one(characters: str) -> bool:
    """Return whether two neighboring characters belong to one word, or one blank."""
    return _INSIDE.fullmatch(characters) is not None


@lru_cache(maxsize=4096)
def _tokens(text: str) -> list[str]:
    """Return words, marks and white space; the list is shared, so it must not be changed."""
    return _TOKEN.findall(text)


@lru_cache(maxsize=4096)
def _count(text: str) -> int:
    """Return the number of words and marks."""
    return sum(not token.isspace() for token in _tokens(text))


@lru_cache(maxsize=4096)
def _first_words(value: str, slot: str) -> frozenset[str]:
    """Return the words with which what fills a slot may stand outside of it."""
    return frozenset(word for part in _left_over(value, slot) for word in _tokens(part)[:1])


def _text(prompt: Prompt) -> str:
    return "\n".join(message["content"] for message in prompt.messages)


def _is_english(prompt: Prompt) -> bool:
    return str(prompt.metadata.get("language", "en")) == "en"


def _check_pair(item: ProbeItem, number: int, first: Prompt, second: Prompt) -> _Alignment:
    """Return two prompts side by side. Raises where other words than those of slots differ."""
    one, two = _tokens(_text(first)), _tokens(_text(second))
    aligned = _aligned(one, two, list(_pairs(first.slots, second.slots)))
    if aligned.places is not None:
        at, there = aligned.places
        raise FairnessError(
            f"item {item.id!r}, prompts 1 and {number} differ outside their slots: {_word(one, at)!r} and "
            f"{_word(two, there)!r}, in {_around(one, at)} and {_around(two, there)}: "
            "declare the words as a slot, or write them alike"
        )
    fixed = aligned.fixed
    left = _left_in(fixed, first.slots, second.slots)
    if left is not None:
        raise FairnessError(
            f"item {item.id!r}, prompts 1 and {number}: {left!r} fills a slot of one and stands outside it "
            f"in both, in {_around(fixed, _position(fixed, left))}: put the slot there, or use another word"
        )
    return aligned


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


def _aligned(one: Sequence[str], two: Sequence[str], pairs: Sequence[tuple[list[str], list[str]]]) -> _Alignment:
    """Return two texts side by side, as far as they are alike outside the slots."""
    starts = {tokens[0] for pair in pairs for tokens in pair if tokens}
    fixed: list[str] = []
    filled: list[tuple[list[str], list[str]]] = []
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
                filled.append((ours, theirs))
                break
        else:
            if one[here : here + 1] != two[there : there + 1]:
                return _Alignment(fixed, filled, (here, there))
            fixed += one[here : here + 1]
            here, there = here + 1, there + 1
    return _Alignment(fixed, filled)


def _left_in(fixed: Sequence[str], first: Mapping[str, str], second: Mapping[str, str]) -> str | None:
    words = set(fixed)
    for slot in {**first, **second}:
        ours, theirs = first.get(slot, ""), second.get(slot, "")
        if ours == theirs:
            continue
        for value in (ours, theirs):
            for part in _left_over(value, slot):
                if not words.isdisjoint(_tokens(part)[:1]) and _position(fixed, part) is not None:
                    return part
    return None


def _left_over(value: str, slot: str) -> list[str]:
    """Return what of a slot's value must not stand outside the slot, the longest first."""
    parts = {value, *value.split()} if slot == "name" else {value}
    spellings = sorted(parts | {_capital(part) for part in parts}, key=len, reverse=True)
    return [part for part in spellings if part.lower() not in _ARTICLES and any(map(str.isalpha, part))]


def _position(fixed: Sequence[str], value: str) -> int | None:
    """Return the position of a value in a text, as whole words."""
    wanted = _tokens(value)
    places = (position for position, word in enumerate(fixed) if word == wanted[0])
    return next((position for position in places if list(fixed[position : position + len(wanted)]) == wanted), None)


def _check_pronouns(item: ProbeItem, number: int, prompt: Prompt) -> None:
    given = {slot: value for slot, value in prompt.slots.items() if slot in _PRONOUNS[0]}
    pronouns = [(slot, value) for slot, value in given.items() if value in _FORMS]
    if pronouns and not any(all(value in kind[slot] for slot, value in pronouns) for kind in _PRONOUNS):
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
