"""Checks that the prompts of one item differ only in the slots that they mark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.lazy_patterns import lazy_pattern

_TOKEN = lazy_pattern(r"\w+|\s+|[^\w\s]")
_INSIDE = lazy_pattern(r"\w\w|\s\s")
_ARTICLES = ("a", "an")
# A pattern that begins with letters is searched four times as fast as one that begins with a border of words.
_ARTICLE = lazy_pattern(r"([Aa](?<!\w.)n?)\s+[(\"'\u201c\u2018]?(\w+)")
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
# Words that are spelled with an initial vowel and spoken without one, and the reverse.
_CONSONANT = lazy_pattern(
    r"(?:uni(?![nm])|use|usu|uti|ukr|ugand|urug|uran|ural|uyg|eu|ewe|one(?!r)|once|ouija)", re.IGNORECASE
)
_VOWEL = lazy_pattern(r"(?:hour|honest|honou?r|heir|8|1[18](?!\d))", re.IGNORECASE)
_SPELLED = lazy_pattern(r"[AEFHILMNORSX](?:[A-Z]+|\b)")
_GENDERED = {form for kind in _PRONOUNS[:2] for forms in kind.values() for form in forms}
_SHOWN = 8
_TEMPLATES = 8
"""The most templates of an item: prompts that differ from the first in the same slots share one."""


@dataclass(frozen=True, slots=True)
class LintResult:
    """Lengths and pronouns of an item whose prompts differ in their slots alone."""

    characters: tuple[int, int]
    """Characters of its shortest and its longest prompt."""
    tokens: tuple[int, int]
    """Words and marks of the shortest and the longest, not tokens of any model."""
    pronouns: tuple[str, ...]
    """Pronouns such as "she" that stand in every prompt: right only if they refer to another person."""


def lint(item: ProbeItem) -> LintResult:
    """Check that prompts of one item differ in their declared slots alone.

    `Prompt.slots` declares the value of each slot as it occurs in the text (the first letter may be a capital). A slot
    can be empty, or unused. Each prompt is compared with the first, by words, marks and spaces. Three mistakes are
    refused as well:

    - a value of a slot that also occurs outside the slots, in all prompts: a name or pronoun that was not replaced (of
      the slot ``name`` each of its words);
    - pronouns of different persons (slots ``they``, ``them``, ``their``, ``theirs``, ``themself``);
    - "a" for "an" at a slot, unless ``metadata["language"]`` is another than "en".

    Args:
        item: The item.

    Returns:
        Its lengths, and the pronouns that all its prompts share.

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

    Raises:
        FairnessError: The prompts differ in more; the message shows the words.
    """
    for number, prompt in enumerate(item.prompts, start=1):
        _check_pronouns(item, number, prompt)
        _check_articles(item, number, prompt)
    first, *others = item.prompts
    texts = [_text(prompt) for prompt in item.prompts]
    counts = [_count(texts[0])]
    templates: list[_Template] = []
    shared: set[str] | None = None
    for number, (prompt, text) in enumerate(zip(others, texts[1:], strict=True), start=2):
        matches = (template.match(prompt, text) for template in templates)
        match = next((candidate for candidate in matches if candidate is not None), None)
        if match is None:
            aligned = _check_pair(item, number, first, prompt)
            match = _Match(set(aligned.fixed), _count(text))
            if len(templates) < _TEMPLATES:
                templates.append(_Template.of(first, prompt, aligned))
        shared = match.words if shared is None else shared & match.words
        counts.append(match.count)
    pronouns = {word.lower() for word in shared or ()} & _GENDERED if _is_english(first) else set()
    characters = [len(text) for text in texts]
    return LintResult((min(characters), max(characters)), (min(counts), max(counts)), tuple(sorted(pronouns)))


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
        by = " and ".join(counted(number, what) for number, what in lengths if number)
        sentence = f"{counted(self.items, 'item')}: only the slots change from prompt to prompt"
        sentence += f", which makes them longer by up to {by}" if by else ""
        if self.pronouns:
            sentence += f"; outside of the slots, all prompts have {', '.join(map(repr, self.pronouns))}"
        return sentence


def lint_all(items: Iterable[ProbeItem]) -> LintReport:
    """Lint items that declare slots.

    Raises:
        FairnessError: For the first whose prompts differ in more.
    """
    report = LintReport()
    for item in items:
        result = lint(item)
        (least, most), (fewest, longest) = result.characters, result.tokens
        report += LintReport(1, most - least, longest - fewest, result.pronouns)
    return report


@dataclass(frozen=True, slots=True)
class _Alignment:
    """Two prompts aligned word by word."""

    fixed: list[str]
    """The words that both share; an empty text for each slot."""
    filled: list[tuple[list[str], list[str]]]
    """The words in each of these slots, in the first and in the second prompt."""
    first_difference: tuple[int, int] | None = None
    """The index of the first difference in each; None where they differ in slots alone."""


@dataclass(frozen=True, slots=True)
class _Match:
    """A prompt that differs from the first in slots alone."""

    words: set[str]
    """The words that both share."""
    count: int
    """Its own words and marks."""


@dataclass(frozen=True, slots=True)
class _Template:
    """The first prompt of an item, split at the slots in which another prompt differs.

    Most prompts are fillings of a template that was found before. Matching one is many times faster than aligning the
    prompt with the first word by word.
    """

    slots: Mapping[str, str]
    """The slots of the first prompt."""
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
        slots_by_values: dict[tuple[str, str], tuple[str, bool]] = {}
        for slot in first.slots.keys() & second.slots.keys():
            ours, theirs = first.slots[slot], second.slots[slot]
            slots_by_values.setdefault((ours, theirs), (slot, False))
            slots_by_values.setdefault((_capitalized(ours), _capitalized(theirs)), (slot, True))
        names = [slots_by_values["".join(ours), "".join(theirs)] for ours, theirs in aligned.filled]
        fixed = aligned.fixed
        slots = [-1, *(position for position, word in enumerate(fixed) if not word), len(fixed)]
        parts = ["".join(fixed[slot + 1 : following]) for slot, following in pairwise(slots)]
        count = len(fixed) - len(names) - sum(map(str.isspace, fixed))
        return cls(first.slots, parts, names, frozenset(fixed), count)

    def match(self, prompt: Prompt, text: str) -> _Match | None:
        """Return the match of a prompt with this template; None where the two must be aligned word by word."""
        rebuilt, unchanged, count = self.parts[0], set[str](), self.count
        for part, (slot, is_capital) in zip(self.parts[1:], self.names, strict=True):
            value = prompt.slots.get(slot, "")
            if not value or _are_joined(rebuilt[-1:] + value[0]) or _are_joined(value[-1] + part[:1]):
                return None
            value = _capitalized(value) if is_capital else value
            rebuilt += value + part
            count += _count(value)
            if prompt.slots[slot] == self.slots[slot]:
                unchanged.update(_tokens(value))
        if rebuilt != text:
            return None
        words = self.words | unchanged
        for slot, ours, theirs in _differing_slots(self.slots, prompt.slots):
            if words.isdisjoint(_first_words(ours, slot)) and words.isdisjoint(_first_words(theirs, slot)):
                continue
            if _undeclared_value(self._fixed(prompt), self.slots, prompt.slots) is not None:
                return None
            break
        return _Match({*words}, count)

    def _fixed(self, prompt: Prompt) -> list[str]:
        """Return the words that a prompt shares with the first; an empty text for each slot in which they differ."""
        fixed = [*_tokens(self.parts[0])]
        for part, (slot, is_capital) in zip(self.parts[1:], self.names, strict=True):
            value = prompt.slots[slot]
            filled = _capitalized(value) if is_capital else value
            fixed += _tokens(filled) if value == self.slots[slot] else [""]
            fixed += _tokens(part)
        return fixed


@lru_cache(maxsize=4096)
def _are_joined(characters: str) -> bool:
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
    """Return the first words of the spellings of a slot's value that must not occur outside the slot."""
    return frozenset(word for part in _spellings(value, slot) for word in _tokens(part)[:1])


def _text(prompt: Prompt) -> str:
    return "\n".join(message["content"] for message in prompt.messages)


def _is_english(prompt: Prompt) -> bool:
    return str(prompt.metadata.get("language", "en")) == "en"


def _check_pair(item: ProbeItem, number: int, first: Prompt, second: Prompt) -> _Alignment:
    """Return the alignment of two prompts. Raises `FairnessError` where they differ outside their slots."""
    one, two = _tokens(_text(first)), _tokens(_text(second))
    aligned = _align(one, two, list(_differing_values(first.slots, second.slots)))
    if aligned.first_difference is not None:
        index, other_index = aligned.first_difference
        raise FairnessError(
            f"item {item.id!r}, prompts 1 and {number} differ outside their slots: {_word(one, index)!r} and "
            f"{_word(two, other_index)!r}, in {_excerpt(one, index)} and {_excerpt(two, other_index)}: "
            "declare the words as a slot, or write them alike"
        )
    fixed = aligned.fixed
    leftover = _undeclared_value(fixed, first.slots, second.slots)
    if leftover is not None:
        raise FairnessError(
            f"item {item.id!r}, prompts 1 and {number}: {leftover!r} fills a slot of one and stands outside it "
            f"in both, in {_excerpt(fixed, _position(fixed, leftover))}: put the slot there, or use another word"
        )
    return aligned


def _differing_values(first: Mapping[str, str], second: Mapping[str, str]) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the two values of each slot that differs, as tokens, the longest first."""
    pairs = []
    for slot in first.keys() & second.keys():
        ours, theirs = first[slot], second[slot]
        if ours != theirs:
            pairs.append((ours, theirs))
            pairs.append((_capitalized(ours), _capitalized(theirs)))
    for ours, theirs in sorted(set(pairs), key=lambda pair: (-len(pair[0]) - len(pair[1]), pair)):
        yield _tokens(ours), _tokens(theirs)


def _align(one: Sequence[str], two: Sequence[str], pairs: Sequence[tuple[list[str], list[str]]]) -> _Alignment:
    """Return the alignment of two texts, up to the first difference outside the slots."""
    starts = {tokens[0] for pair in pairs for tokens in pair if tokens}
    fixed: list[str] = []
    filled: list[tuple[list[str], list[str]]] = []
    index = other_index = 0
    while index < len(one) or other_index < len(two):
        # Most words begin no slot: they are compared up to the next that does.
        run = next((position for position in range(index, len(one)) if one[position] in starts), len(one)) - index
        if run and one[index : index + run] == two[other_index : other_index + run]:
            fixed += one[index : index + run]
            index, other_index = index + run, other_index + run
            continue
        for ours, theirs in pairs:
            if one[index : index + len(ours)] == ours and two[other_index : other_index + len(theirs)] == theirs:
                index, other_index = index + len(ours), other_index + len(theirs)
                fixed.append("")
                filled.append((ours, theirs))
                break
        else:
            if one[index : index + 1] != two[other_index : other_index + 1]:
                return _Alignment(fixed, filled, (index, other_index))
            fixed += one[index : index + 1]
            index, other_index = index + 1, other_index + 1
    return _Alignment(fixed, filled)


def _differing_slots(first: Mapping[str, str], second: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the name and both values of each slot in which two prompts differ."""
    for slot in {**first, **second}:
        ours, theirs = first.get(slot, ""), second.get(slot, "")
        if ours != theirs:
            yield slot, ours, theirs


def _undeclared_value(fixed: Sequence[str], first: Mapping[str, str], second: Mapping[str, str]) -> str | None:
    words = set(fixed)
    for slot, ours, theirs in _differing_slots(first, second):
        for value in (ours, theirs):
            for part in _spellings(value, slot):
                if not words.isdisjoint(_tokens(part)[:1]) and _position(fixed, part) is not None:
                    return part
    return None


@lru_cache(maxsize=4096)
def _spellings(value: str, slot: str) -> Sequence[str]:
    """Return the spellings of a slot's value that must not occur outside the slot, the longest first."""
    parts = {value, *value.split()} if slot == "name" else {value}
    spellings = sorted(parts | {_capitalized(part) for part in parts}, key=len, reverse=True)
    return [part for part in spellings if part.lower() not in _ARTICLES and any(map(str.isalpha, part))]


def _position(fixed: Sequence[str], value: str) -> int | None:
    """Return the position of a value in a text, as whole words."""
    tokens = _tokens(value)
    position = -1
    for _ in range(fixed.count(tokens[0])):
        position = fixed.index(tokens[0], position + 1)
        if list(fixed[position : position + len(tokens)]) == tokens:
            return position
    return None


def _check_pronouns(item: ProbeItem, number: int, prompt: Prompt) -> None:
    values = {slot: value for slot, value in prompt.slots.items() if slot in _PRONOUNS[0]}
    pronouns = [(slot, value) for slot, value in values.items() if value in _FORMS]
    if pronouns and not any(all(value in kind[slot] for slot, value in pronouns) for kind in _PRONOUNS):
        listed = ", ".join(f"{slot} is {value!r}" for slot, value in values.items())
        raise FairnessError(
            f"item {item.id!r}, prompt {number} has pronouns that do not go together: {listed}: give those of one kind"
        )


def _check_articles(item: ProbeItem, number: int, prompt: Prompt) -> None:
    """Refuse "a" before a vowel and "an" before a consonant, where the article or the word is part of a slot."""
    if not _is_english(prompt):
        return
    for article, word in _ARTICLE.findall(_text(prompt)):
        if (article.lower() == "an") == begins_with_vowel(word):
            continue
        starts = {tokens[0] for tokens in map(_tokens, prompt.slots.values()) if tokens}
        if {article, word} & (starts | {_capitalized(start) for start in starts}):
            raise FairnessError(
                f"item {item.id!r}, prompt {number} says {f'{article} {word}'!r}: make the article part of the slot"
            )


@lru_cache(maxsize=4096)
def begins_with_vowel(word: str) -> bool:
    """Return whether a word takes "an": an estimate of its sound from its letters."""
    if _VOWEL.match(word):
        return True
    if word.isupper() and word.isalpha():
        return _SPELLED.match(word) is not None
    return word[0].lower() in "aeiou" and _CONSONANT.match(word) is None


def _capitalized(value: str) -> str:
    return value[:1].upper() + value[1:]


def _word(tokens: Sequence[str], position: int) -> str:
    return next((token for token in tokens[position:] if not token.isspace()), "")


def _excerpt(tokens: Sequence[str], position: int | None) -> str:
    """Return a few words around a position, in quotation marks."""
    middle = position or 0
    shown = "".join(tokens[max(0, middle - _SHOWN) : middle + _SHOWN])
    return f'"{" ".join(shown.split())}"'
