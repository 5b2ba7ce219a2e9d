"""Confounds in slots: words, numbers and titles that stand with one group, besides those that tell the group."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations
from typing import NamedTuple

from pytest_fairness.core.formatting import counted, one_line
from pytest_fairness.core.items import Prompt
from pytest_fairness.counterfactual.grammar import grammar, languages
from pytest_fairness.counterfactual.group_gaps import FEWEST_ITEMS, GroupGap, Row, widest_gap

WHOLE_TEXT = "the text"
"""The slot of prompts that declare none: their words that not all prompts of the item have."""
FEWEST_ALIKE = 2
"""Prompts of each group in a small probe whose differences are reported if all items have them."""
LONGEST_VALUE = 60
LARGEST_NUMBER = 1e15
"""Numbers above are identifiers, which are compared as words."""
MOSTLY = 0.9
"""The share of pairs of groups, over items, that a slot must tell apart to tell the group."""
_STEM = 3
_LONGEST_ENDING = 5
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_NUMBER = re.compile(r"(?<![\w.,])\d{1,3}(?:[,  ]\d{3})+(?!\d)|(?<![\w])\d+(?:\.\d+)?")
_RANK = "(?:Dr|Drs|Prof|Professor|Professorin|Doctor|Sir|Dame|Lord|Lady|Hon|Rev|Captain|Judge|Dipl|Ing|Ir|Mag|Dra)"
_RANKS = re.compile(rf"(?<!\w){_RANK}\b\.?(?=[ .-]+\w)|(?<=\w),? (?:PhD|Ph\.D\.|MD|M\.D\.|MBA|Esq)(?!\w)")
_COURTESIES = re.compile(
    r"(?<!\w)(?:Mr|Mrs|Ms|Miss|Mx|Herrn?|Frau|Sra?|Senhora?|Se\u00f1ora?|Madame|Monsieur|Mme|Mevrouw|Meneer)\.? "
    r"(?=[^\W\d_a-z])"
)
_OF_A_GENDER = frozenset(("she", "her", "hers", "he", "him", "his", "sie", "er", "ella", "elle", "il", "zij", "hij"))
# Of languages without tables of their own: French, Portuguese, Dutch.
_PRONOUNS = """
    elle elles lui leur il ils la le les l un une du celle celui ceux celles toute tout madame monsieur mme m
    ela ele elas eles dela dele delas deles lhe seu sua seus suas a o as os uma um da do das dos pela
    pelo à ao senhora senhor sra sr
    zij ze hij haar hem hare zijne zijn mevrouw meneer mevr dhr
    femme homme mulher homem vrouw
    her him she he they them their theirs his hers herself himself themself themselves mrs miss ms mr mx
    female male nonbinary non-binary girl girls boy boys women men lady gentleman
"""


LEAST_SHARE = 0.1
"""The smallest difference between groups in how often a word stands in a slot."""
LEAST_NUMBER = 0.1
"""The smallest difference of a number's mean between groups, in standard deviations."""


_NAME = re.compile(r"(?:(?:[^\W\d_a-z][\w'\u2019.-]*|de|da|do|dos|du|di|el|al|bin|van|von|der|den|la)(?: |$))+")
_PEOPLE = (
    "applicant", "author", "bewerber", "bewerberin", "candidate", "client", "customer", "employee", "patient", "people",
    "person", "student", "tenant", "user", "wer", "who", "worker",
)  # fmt: skip
"""Slots that hold names, if all of their values are spelled as names are."""


class SlotConfound(NamedTuple):
    """A finding on one slot."""

    kind: str
    """"number", "value" or "title"."""
    text: str


def find_slot_confounds(rows: Sequence[Row]) -> Iterator[SlotConfound]:
    """Yield what differs between groups in slots that do not tell the group.

    A name, a pronoun, a gendered word, a title of courtesy, and a slot that has the name of the attribute or holds its
    group tell the group. Where no slot does, the ones that differ are the attribute under test.

    Args:
        rows: The prompts of a probe.
    """
    reported: set[tuple[str, str]] = set()
    for by in _attributes(rows):
        with_group = [row for row in rows if by in row.prompt.groups]
        for kind, slot, text in _remarks_on(with_group, by):
            if (kind, slot) not in reported:
                reported.add((kind, slot))
                yield SlotConfound(kind, text)
    _stands_in.cache_clear()


def _attributes(rows: Sequence[Row]) -> list[str]:
    """Return the attributes of groups, those with few groups first: a combination repeats its parts."""
    groups: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        for by, group in row.prompt.groups.items():
            groups[by].add(str(group))
    return sorted((by for by, own in groups.items() if len(own) > 1), key=lambda by: (len(groups[by]), by))


def _remarks_on(rows: Sequence[Row], by: str) -> Iterator[tuple[str, str, str]]:
    for comparable in _comparable(rows, by):
        yield from _remarks_within(comparable, by)


def _comparable(rows: Sequence[Row], by: str) -> list[list[Row]]:
    """Return the prompts whose items hold the same groups, and those of all items about one group each."""
    groups_by_item: dict[int, set[str]] = defaultdict(set)
    for row in rows:
        groups_by_item[row.item].add(str(row.prompt.groups[by]))
    parts: dict[frozenset[str], list[Row]] = defaultdict(list)
    for row in rows:
        groups = frozenset(groups_by_item[row.item])
        parts[groups if len(groups) > 1 else frozenset()].append(row)
    return list(parts.values())


def _remarks_within(rows: Sequence[Row], by: str) -> Iterator[tuple[str, str, str]]:
    for title, pattern in (("'Dr'", _RANKS), ("'Ms' or 'Mr'", _COURTESIES)):
        if not any(_has_title(row.prompt, pattern) for row in rows):
            continue
        # test_person_of_no_stated_gender_needs_no_title: none but Mx is neutral, which many do not take.
        titled = [row for row in rows if pattern is _RANKS or not _is_neutral(row.prompt)]
        has_title = [float(_has_title(row.prompt, pattern)) for row in titled]
        gap = widest_gap(titled, by, has_title)
        if _is_gap(gap, LEAST_SHARE, titled, by, has_title):
            yield "title", "title", f"a title such as {title} stands {_shares(gap, by)}: give every group such titles"
    texts_by_slot = _texts_by_slot(rows, by)
    telling = {slot for slot, texts in texts_by_slot.items() if _tells_group(rows, by, slot, texts)}
    if not telling and not (WHOLE_TEXT in texts_by_slot and _mentions_person(texts_by_slot[WHOLE_TEXT], rows)):
        return
    for slot, texts in texts_by_slot.items():
        if slot not in telling and len(set(texts)) > 1 and not _holds_names(rows, by, slot, texts):
            remark = _number_remark(rows, by, slot, texts) or _word_remark(rows, by, slot, texts)
            if remark is not None:
                yield remark


def _is_gap(gap: GroupGap | None, least: float, rows: Sequence[Row], by: str, values: Sequence[float]) -> bool:
    """Return whether a gap is beyond chance; in a small probe, whether it is in all of its items."""
    if gap is None:
        return False
    values_by_item: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row, value in zip(rows, values, strict=True):
        values_by_item[row.item][str(row.prompt.groups[by])].append(value)
    if len(values_by_item) >= FEWEST_ITEMS:
        return gap.difference.is_off(0.0, least)
    compared = [(own.get(gap.most, []), own.get(gap.least, [])) for own in values_by_item.values()]
    return min(sum(map(len, own)) for own in zip(*compared, strict=True)) >= FEWEST_ALIKE and all(
        most and other and min(most) > max(other) for most, other in compared
    )


def _are_paired(rows: Sequence[Row], by: str) -> bool:
    """Return whether every item holds prompts about several groups."""
    groups_by_item: dict[int, set[str]] = defaultdict(set)
    for row in rows:
        groups_by_item[row.item].add(str(row.prompt.groups[by]))
    return all(len(groups) > 1 for groups in groups_by_item.values())


def _shares(gap: GroupGap | None, by: str) -> str:
    assert gap is not None  # noqa: S101 - of a gap that was found
    most, least = gap.means[gap.most], gap.means[gap.least]
    return f"in {most:.0%} of prompts about {by} {gap.most!r} and {least:.0%} about {gap.least!r}"


# Slots ----------------------------------------------------------------------------------------------------------------


def _texts_by_slot(rows: Sequence[Row], by: str) -> dict[str, list[str]]:
    """Return the text of each slot in each prompt; where none are declared, the words that items do not share."""
    slots = dict.fromkeys(slot for row in rows for slot in row.prompt.slots)
    if slots:
        return {slot: [row.prompt.slots.get(slot, "") for row in rows] for slot in slots}
    if not _are_paired(rows, by):
        return {}
    shared: dict[int, Counter[str]] = {}
    for row in rows:
        words = Counter(_pieces(row.prompt.text))
        shared[row.item] = shared[row.item] & words if row.item in shared else words
    texts = []
    for row in rows:
        left, own = shared[row.item].copy(), []
        for piece in _pieces(row.prompt.text):
            if left[piece] > 0:
                left[piece] -= 1
            else:
                own.append(piece)
        texts.append(" ".join(own))
    return {WHOLE_TEXT: texts}


def _pieces(text: str) -> list[str]:
    return re.findall(r"\d+(?:[.,]\d+)*|\w+(?:['\u2019-]\w+)*", text)


def _tells_group(rows: Sequence[Row], by: str, slot: str, texts: Sequence[str]) -> bool:
    """Return whether a slot tells the group: by its name, as a name or pronoun, or with a word of the group."""
    if slot == WHOLE_TEXT or not _tells_apart(rows, by, texts):
        return False
    if slot == by or slot.startswith(f"{by}_") or _holds_names(rows, by, slot, texts):
        return True
    if all(_gendered().issuperset(_words(text)) and not _NUMBER.search(text) for text in set(texts)):
        return True
    groups = {str(row.prompt.groups[by]) for row in rows}
    named = {
        group
        for group, text in {(str(row.prompt.groups[by]), text) for row, text in zip(rows, texts, strict=True)}
        if set(_words(group)) & set(_words(text))
    }
    return 2 * len(named) >= len(groups)


def _tells_apart(rows: Sequence[Row], by: str, texts: Sequence[str]) -> bool:
    """Return whether no two groups have the same text in an item, with few exceptions."""
    is_paired = _are_paired(rows, by)
    values: dict[int, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row, text in zip(rows, texts, strict=True):
        values[row.item if is_paired else 0][str(row.prompt.groups[by])].add(text)
    pairs = [first.isdisjoint(second) for own in values.values() for first, second in combinations(own.values(), 2)]
    return bool(pairs) and sum(pairs) >= MOSTLY * len(pairs)


def _holds_names(rows: Sequence[Row], by: str, slot: str, texts: Sequence[str]) -> bool:
    """Return whether a slot holds people's names: by its own name, by listed ones, or as several full names a group."""
    if _is_name(slot):
        return True
    values = {text for text in texts if text}
    if slot == WHOLE_TEXT or not values or not all(map(_NAME.fullmatch, values)):
        return False
    values_by_group: dict[str, set[str]] = defaultdict(set)
    for row, text in zip(rows, texts, strict=True):
        values_by_group[str(row.prompt.groups[by])].add(text)
    are_full = all(" " in value for value in values) and min(map(len, values_by_group.values())) >= FEWEST_ALIKE
    return (
        slot.casefold() in _PEOPLE or are_full or not any(_listed_names().isdisjoint(_words(text)) for text in values)
    )


def _is_name(slot: str) -> bool:
    return "name" in slot.casefold()


def _mentions_person(texts: Sequence[str], rows: Sequence[Row]) -> bool:
    """Return whether prompts without slots tell the group by a pronoun, a gendered word or a listed name."""
    without = [text for text in texts if _gendered().isdisjoint(_words(text))]
    if not without:
        return True
    names = _name_words(rows)
    return all(not names.isdisjoint(_words(text)) for text in without)


def _name_words(rows: Sequence[Row]) -> frozenset[str]:
    """Return the words of people's names in the prompts, so that an address made of a name is none of its own."""
    texts = {
        text for row in rows for slot, text in {**row.prompt.metadata, **row.prompt.slots}.items()
        if _is_name(str(slot)) and isinstance(text, str)
    }  # fmt: skip
    return frozenset(word for text in texts for word in _words(text)) | _listed_names()


@cache
def _listed_names() -> frozenset[str]:
    from pytest_fairness.counterfactual.name_lists import LANGUAGES, NameList

    listed = (NameList.read(language=language) for language in LANGUAGES)
    return frozenset(word for names in listed for group in names.groups for name in names.of(group)
                     for word in _words(name.text))  # fmt: skip


def _has_title(prompt: Prompt, pattern: re.Pattern[str]) -> bool:
    """Return whether a title stands before a name in the text, or alone in a slot."""
    return _stands_in(prompt.text, pattern) or _stands_in(f"{prompt.slots.get('title', '')} X", pattern)


@cache  # every attribute of a probe asks the same of its texts, which may be long
def _stands_in(text: str, title: re.Pattern[str]) -> bool:
    return title.search(text) is not None


def _is_neutral(prompt: Prompt) -> bool:
    """Return whether a text has neither a title of courtesy nor a pronoun of one gender."""
    words = {word for text in (prompt.text, *prompt.slots.values()) for word in _words(text)}
    return not _has_title(prompt, _COURTESIES) and words.isdisjoint(_OF_A_GENDER)


# What differs ---------------------------------------------------------------------------------------------------------


def _number_remark(rows: Sequence[Row], by: str, slot: str, texts: Sequence[str]) -> tuple[str, str, str] | None:
    numbers = [_numbers(text) for text in texts]
    if not any(numbers) or len(set(map(len, numbers))) > 1 or max(map(max, numbers)) > LARGEST_NUMBER:
        return None
    for index in range(len(numbers[0])):
        values = [own[index] for own in numbers]
        mean = sum(values) / len(values)
        deviation = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
        gap = widest_gap(rows, by, values)
        if gap is None or not deviation:
            continue
        if _is_gap(gap, LEAST_NUMBER * deviation, rows, by, values):
            most, least = f"{gap.means[gap.most]:.6g}", f"{gap.means[gap.least]:.6g}"
            text = (
                f"the number in {_slot(slot)} is {most} on average in prompts about {by} {gap.most!r} and {least} "
                f"about {gap.least!r} ({_examples(rows, by, texts, gap)}): give every group the same numbers"
            )
            return "number", slot, text
    return None


def _word_remark(
    rows: Sequence[Row],
    by: str,
    slot: str,
    texts: Sequence[str],
) -> tuple[str, str, str] | None:
    words = [frozenset(_features(text)) for text in texts]
    by_group: dict[str, set[str]] = defaultdict(set)
    for own, row in zip(words, rows, strict=True):
        by_group[str(row.prompt.groups[by])] |= own
    gaps: list[tuple[float, str, GroupGap]] = []
    for word in sorted(set[str]().union(*words)):
        without = [group for group, own in by_group.items() if word not in own]
        if word in _gendered() or word in _group_words(by_group):
            continue
        if without and all(_is_inflected(word, by_group[group]) for group in without):
            continue
        holds = [float(word in own) for own in words]
        gap = widest_gap(rows, by, holds)
        if gap is not None and _is_gap(gap, LEAST_SHARE, rows, by, holds) and word not in _name_words(rows):
            gaps.append((gap.difference.value, word, gap))
    if not gaps:
        return None
    _, word, gap = max(gaps, key=lambda one: (one[0], len(one[1])))
    others = counted(len(gaps) - 1, "more word")
    verb = "stand" if len(gaps) > 1 else "stands"
    more = f", and {others}" if len(gaps) > 1 else ""
    text = (
        f"{word!r}{more} in {_slot(slot)} {verb} {_shares(gap, by)} ({_examples(rows, by, texts, gap)}): give every "
        "group the same values"
    )
    return "value", slot, text


def _slot(slot: str) -> str:
    return slot if slot == WHOLE_TEXT else f"slot {slot!r}"


def _examples(rows: Sequence[Row], by: str, texts: Sequence[str], gap: GroupGap) -> str:
    """Return the text of the slot in one item, in both groups."""
    first: dict[str, str] = {}
    for row, text in zip(rows, texts, strict=True):
        first.setdefault(str(row.prompt.groups[by]), text)
    shown = [repr(one_line(first[group], LONGEST_VALUE)) for group in (gap.most, gap.least)]
    return " and ".join(shown)


def _numbers(text: str) -> list[float]:
    return [float(re.sub(r"[,  ]", "", number)) for number in _NUMBER.findall(text)]


@lru_cache(maxsize=4096)
def _features(text: str) -> tuple[str, ...]:
    """Return the words and numbers of a slot's value."""
    return (*_words(text), *_NUMBER.findall(text))


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(text))


def _group_words(groups: Mapping[str, object]) -> frozenset[str]:
    return frozenset(word for group in groups for word in _words(group))


@cache
def _gendered() -> frozenset[str]:
    """Return pronouns, articles, titles of courtesy and nouns that change with a person's gender."""
    words = set(_PRONOUNS.split())
    for language in languages():
        table = grammar(language)
        for forms in (*table.words.values(), *table.neopronouns.values()):
            words.update(word for form in forms.values() for word in _words(form))
        words.update(word for noun in table.nouns for form in noun for word in _words(form))
        words.update(word for title in table.titles for word in _words(title))
        words.update(word for pair in table.agreement.items() for form in pair for word in _words(form))
    return frozenset(words)


def _is_inflected(word: str, others: set[str]) -> bool:
    """Return whether another group has the same word with another ending: "Leiterin" and "Leiter"."""
    plain = _without_accents(word)
    for other in others:
        second = _without_accents(other)
        stem = next((n for n, pair in enumerate(zip(plain, second, strict=False)) if pair[0] != pair[1]), None)
        stem = min(len(plain), len(second)) if stem is None else stem
        longest = max(len(plain), len(second))
        if stem >= max(_STEM, min(len(plain), len(second)) / 2) and longest - stem <= _LONGEST_ENDING:
            return True
    return False


@lru_cache(maxsize=4096)
def _without_accents(word: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter))
