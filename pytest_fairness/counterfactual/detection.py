"""Mentions of a person's gender or name in a text, with the slots that stand for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted
from pytest_fairness.counterfactual.grammar import Grammar, grammar
from pytest_fairness.counterfactual.linter import begins_with_vowel
from pytest_fairness.counterfactual.slots import counterfactuals, names

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_BETWEEN = re.compile(r"\w+ly$|also$|always$|often$|never$|still$|just$|then$|now$|really$|not$")
"""Words that stand between a pronoun and its verb."""
_THIRD_PERSON = re.compile(r"[a-z]{2,}(?<![su'\u2019i])s$")
_AFTER_OBJECT = re.compile(
    r"(?:a|an|the|to|for|in|on|at|of|and|or|but|with|from|by|as|if|is|was|that|this|again|well|now|then|when|because|"
    r"who|up|out|back|off|about|into|over|so|today|tomorrow|yesterday|here|there|how|what|why|not|be|do|go|very|too)$"
)
"""Words after "her" that begin no noun."""
_SURNAME = re.compile(r"\s([A-Z][\w'\u2019-]+)")

_OTHER_NAME = re.compile(r"([A-Z][a-z\u00e0-\u00ff]+(?: [A-Z][\w'\u2019-]+)?)(?: (\w+))?")
_BEGINS_SENTENCE = re.compile(r"(?:^|[.:;!?\n\u00bf\u00a1]\s*|[\"'(\u201c\u2018-]\s*)$")
_OF_PEOPLE = re.compile(r"(?:has|is|was|says|said|work(?:s|ed)|applied|and|wants|ask(?:s|ed)|writes|wrote|es|ha|dice)$")
"""Words that follow a first name at the beginning of a sentence."""
_NO_NAME = re.compile(
    r"(?:an?|th(?:e|is|at|ese|ose|ere|ey)|it|here|wh(?:at|o|ich|en|ere|y)|how|if|in|on|at|for|from|to|of|and|or|but|"
    r"every\w*|nobody|some\w*|i|we|you|s?he|no|yes|is|are|was|were|do|does|did|has|have|"
    r"la|el|los|las|una?|lo|ella|\u00e9l)$"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A span of a text that depends on the person: it changes with the person, or no longer fits another one."""

    start: int
    end: int
    kind: str
    """"pronoun", "verb", "name", "title", "noun", "word" (an article and its like), "article" ("a" or "an")."""
    slot: str
    """The slot to write instead: ``{their}``; empty where the author must decide."""
    breaks: str = ""
    """The reason why grammar would break; empty where the slot is enough."""
    gender: str = ""
    """The person's gender, where it is clear."""


def mentions(text: str, language: str = "en") -> list[Mention]:
    """Return the spans of a text that can be varied, in order.

    >>> [(text[m.start : m.end], m.slot) for text in ["She likes her job."] for m in mentions(text)]
    [('She', '{They}'), ('likes', '{likes|like}'), ('her', '{their}')]

    Raises `FairnessError` for a language without tables.
    """
    table = grammar(language)
    words = list(_WORD.finditer(text))
    by_form = _slots_by_form(language)
    nouns = {noun: index for index, forms in enumerate(table.nouns) for noun in forms[:2]}
    mentions: list[Mention] = list(_name_mentions(text, words, table))
    covered = {index for mention in mentions for index in range(mention.start, mention.end)}
    for number, word in enumerate(words):
        if word.start() in covered:
            continue
        following = words[number + 1 :]
        if word[0] in table.titles and _SURNAME.match(text, word.end() + text.startswith(".", word.end())):
            continue  # taken with the name
        lower = word[0].lower()
        if slots := _fitting_slots(by_form.get(lower, ()), following, table, nouns):
            mentions += _pronoun_mentions(text, word, following, table, slots)
        elif (noun := word[0] if word[0] in nouns else lower) in nouns:
            mentions += _noun_mentions(
                text, word, words[number - 1] if number else None, table, table.nouns[nouns[noun]]
            )
    return sorted(mentions, key=lambda mention: (mention.start, mention.end))


@cache
def _slots_by_form(language: str) -> Mapping[str, Sequence[tuple[str, str]]]:
    """Return the slots that each form can fill, each with its gender."""
    table = grammar(language)
    slots: dict[str, list[tuple[str, str]]] = {}
    person = {"person", "child", "parent", "sibling", "spouse", "persona"}
    for gender, forms in table.words.items():
        for slot, form in forms.items():
            # The nouns have forms of their own.
            if slot in person or form in table.titles or slot in table.titles.values():
                continue
            slots.setdefault(form.lower(), []).append((slot, gender))
    return slots


def _fitting_slots(
    pairs: Sequence[tuple[str, str]], after: Sequence[re.Match[str]], table: Grammar, nouns: Mapping[str, int]
) -> Sequence[tuple[str, str]]:
    """Return the slots of a word: of an article and its like before a noun with a gender, else of a pronoun."""
    articles = [pair for pair in pairs if pair[0] not in table.pronouns]
    if not articles:
        return pairs
    noun = next((form for form in (after[0][0], after[0][0].lower()) if form in nouns), "") if after else ""
    gender = "female" if noun and noun == table.nouns[nouns[noun]][0] else "male"
    return [pair for pair in articles if noun and pair[1] == gender]


def _pronoun_mentions(
    text: str, word: re.Match[str], following: list[re.Match[str]], table: Grammar, pairs: Sequence[tuple[str, str]]
) -> Iterator[Mention]:
    is_pronoun = pairs[0][0] in table.pronouns
    genders = {gender for _, gender in pairs}
    slots = list(dict.fromkeys(slot for slot, _ in pairs))
    gender = next(iter(genders)) if len(genders) == 1 else ""
    slot, breaks = slots[0], ""
    if len(slots) > 1 and table.language == "en":
        slot, breaks = _slot_of_possessive(text, word, following)
    elif len(slots) > 1 and not is_pronoun:
        yield Mention(
            word.start(), word.end(), "word", "", f"{word[0]!r} changes with {following[0][0]!r}: choose its case"
        )
        return
    elif len(slots) > 1 or len(genders) > 1:
        breaks = f"{word[0]!r} can be {' or '.join(f'{{{one}}}' for one in slots)}, or somebody else's: choose by hand"
    elif gender == "nonbinary":
        breaks = f"{word[0]!r} can be several people: if it is one, the slot is right"
    kind = "pronoun" if is_pronoun else "word"
    yield Mention(word.start(), word.end(), kind, _slot(slot, word[0]), breaks, gender)
    if table.language == "en" and slot == "they":
        yield from _verb_mentions(text, word, following, table, gender)


def _slot_of_possessive(text: str, word: re.Match[str], following: list[re.Match[str]]) -> tuple[str, str]:
    """Return the slot of "her" or "his" by the next word, with a note where the choice is uncertain."""
    is_her = word[0].lower() == "her"
    without_noun, with_noun = ("them", "their") if is_her else ("theirs", "their")
    next_word = following[0] if following and not text[word.end() : following[0].start()].strip() else None
    if next_word is None:
        return without_noun, ""
    if _AFTER_OBJECT.match(next_word[0].lower()) is None:
        return with_noun, "" if not is_her else f"'her' is read as {{their}}, since {next_word[0]!r} follows"
    return without_noun, f"{word[0]!r} is read as {{{without_noun}}}, since {next_word[0]!r} follows"


def _verb_mentions(
    text: str, word: re.Match[str], later_words: list[re.Match[str]], table: Grammar, gender: str
) -> Iterator[Mention]:
    """Yield the verb that changes with "they": after the pronoun, or before it in a question."""
    singular_forms = {plural: singular for singular, plural in table.agreement.items()}
    preceding = re.search(r"([\w'\u2019]+)\s+$", text[: word.start()])
    neighbors = [] if preceding is None else [(preceding.start(1), preceding.end(1), preceding[1])]
    following = next((form for form in later_words if not _BETWEEN.match(form[0].lower())), None)
    if following is not None and not re.search(r"[.,;:!?]", text[word.end() : following.start()]):
        neighbors.append((following.start(), following.end(), following[0]))
    if "'" in word[0] or "\u2019" in word[0]:
        neighbors = []
    for start, end, verb in neighbors:
        lower = verb.lower().replace("\u2019", "'")
        is_after = start > word.start()
        singular, plural = lower, table.agreement.get(lower, "")
        if gender == "nonbinary":
            singular, plural = (singular_forms[lower], lower) if lower in singular_forms else ("", "")
        elif not plural and is_after and _THIRD_PERSON.match(lower):
            plural = _plural_form(lower)
        if plural and singular:
            first, second = (form.capitalize() if verb[0].isupper() else form for form in (singular, plural))
            yield Mention(start, end, "verb", f"{{{first}|{second}}}", "", "")


def _plural_form(verb: str) -> str:
    """Return the plural form of a verb: ``likes`` -> ``like``, ``tries`` -> ``try``, ``watches`` -> ``watch``."""
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    return verb[:-2] if re.search(r"(?:ch|sh|ss|x|zz|o)es$", verb) else verb[:-1]


def _noun_mentions(
    text: str, word: re.Match[str], preceding: re.Match[str] | None, table: Grammar, forms: tuple[str, str, str]
) -> Iterator[Mention]:
    gender = "female" if word[0].lower() == forms[0].lower() else "male"
    slot = next((name for name, form in table.words[gender].items() if form.lower() == word[0].lower()), "")
    others = [form for form in forms if form.lower() != word[0].lower()]
    alternatives = ", ".join(dict.fromkeys(forms))
    breaks = "" if slot else f"no slot holds {word[0]!r}: vary it as one of your own, over {alternatives}"
    yield Mention(word.start(), word.end(), "noun", _slot(slot, word[0]) if slot else "", breaks, gender)
    is_article = preceding is not None and preceding[0].lower() in ("a", "an") and table.language == "en"
    if preceding is not None and is_article and len({begins_with_vowel(form) for form in (word[0], *others)}) > 1:
        problem = f"{preceding[0]!r} does not fit {' and '.join(map(repr, others))} alike: make it part of the slot"
        yield Mention(preceding.start(), preceding.end(), "article", "", problem)
    if table.language != "en" and preceding is not None and preceding[0].lower() not in _slots_by_form(table.language):
        problem = f"{preceding[0]!r} before {word[0]!r} may change with it: give its ending as {{female|male}}"
        if preceding[0][:1].islower() and text[preceding.end() : word.start()].isspace():
            yield Mention(preceding.start(), preceding.end(), "word", "", problem)


def _name_mentions(text: str, words: list[re.Match[str]], table: Grammar) -> Iterator[Mention]:
    """Yield names of the shipped lists, and words that follow a title."""
    first_names = _first_names(table.language)
    end = 0
    for word in words:
        if word.start() < end:
            continue
        word_end = word.end() + text.startswith(".", word.end())
        surname_match = _SURNAME.match(text, word_end)
        if word[0] in table.titles and surname_match:
            second = _SURNAME.match(text, surname_match.end())
            end = second.end() if second else surname_match.end()
            slot = table.titles[word[0]]
            gender = next((g for g, forms in table.words.items() if forms[slot].rstrip(".") == word[0]), "")
            gender = gender or ("female" if word[0] in ("Mrs", "Miss") else "")
            yield Mention(word.start(), word_end, "title", _slot(slot, word[0]), "", gender)
            yield Mention(surname_match.start(1), end, "name", "{name}", "", "")
        elif word[0] in first_names and word[0].lower() not in _slots_by_form(table.language):
            surname = _SURNAME.match(text, word.end())
            end = surname.end() if surname else word.end()
            yield Mention(word.start(), end, "name", "{name}", "", first_names[word[0]])
        elif (
            table.language != "de"
            and (name_match := _OTHER_NAME.match(text, word.start()))
            and _may_be_name(text, name_match)
        ):
            end = name_match.end(1)
            hint = f"{name_match[1]!r} may be a name, and the list has none such: if it is, write {{name}}"
            yield Mention(word.start(), end, "name", "", hint)


def _may_be_name(text: str, match: re.Match[str]) -> bool:
    """Return whether a capitalized word looks like a person's name; the first word of a sentence rarely does."""
    first, *others = match[1].split()
    if _NO_NAME.match(first.lower()):
        return False
    begins = _BEGINS_SENTENCE.search(text[: match.start()]) is not None
    return bool(others) or not begins or _OF_PEOPLE.match(match[2] or "") is not None


@cache
def _first_names(language: str) -> dict[str, str]:
    listed = {**names(None), **names(None, language=language)}
    return {name.split()[0]: groups["gender"] for name, groups in listed.items()}


def _slot(name: str, word: str) -> str:
    return "{" + (name[:1].upper() + name[1:] if word[:1].isupper() and not name.startswith("herr") else name) + "}"


def is_one_person(mentions: Iterable[Mention], text: str) -> bool:
    """Return whether all mentions can refer to one person: one gender, and at most one name."""
    listed = list(mentions)
    genders = {mention.gender for mention in listed if mention.gender}
    names = {text[mention.start : mention.end] for mention in listed if mention.kind == "name"}
    return len(genders) == 1 and len(names) < 2


_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?')
_CHARACTER = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
_BRACE = re.compile(r"[{}]")


@dataclass(frozen=True, slots=True)
class PromptText:
    """One prompt of a file."""

    line: int
    """Counted from 1."""
    columns: tuple[int, ...]
    """The column of each character, from 1: an escaped one takes several in a JSON line."""
    text: str
    mentions: tuple[Mention, ...]
    trouble: str = ""
    """The reason that no variants can be made; empty where they can."""

    @property
    def template(self) -> str:
        """The text with each mention replaced by its slot."""
        pieces, end = [], 0
        for mention in self.mentions:
            if mention.slot and mention.start >= end:
                pieces += [self.text[end : mention.start], mention.slot]
                end = mention.end
        return "".join([*pieces, self.text[end:]])

    def variants(self, language: str) -> list[dict[str, Any]]:
        """Return the text for every name of the shipped list if it has a name, else for every gender.

        Raises `FairnessError` where `trouble` is set, or where the lint finds a mention without a slot.
        """
        if self.trouble:
            raise FairnessError(self.trouble)
        vary = (
            {"name": names(language=language)} if "{name}" in self.template else {"gender": grammar(language).genders}
        )
        item = counterfactuals(self.template, vary, language=language)
        return [{"text": prompt.text, "groups": dict(prompt.groups)} for prompt in item.prompts]


def read_texts(path: Path, language: str) -> list[PromptText]:
    """Return every prompt of a file: of a text file its lines, of a JSONL file every text with a space in it.

    Raises `FairnessError` for a file that cannot be read, and for a line that is no JSON.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise FairnessError(f"{path} cannot be read: {reason}") from None
    is_json = path.suffix.lower() in (".jsonl", ".ndjson")
    texts = []
    for number, line in enumerate(lines, 1):
        for text, columns in _json_texts(path, number, line) if is_json else [(line, tuple(range(1, len(line) + 1)))]:
            if " " in text.strip():
                found_mentions = tuple(mentions(text, language))
                texts.append(
                    PromptText(number, columns, text, found_mentions, _reason_without_variants(text, found_mentions))
                )
    if not texts:
        raise FairnessError(f"{path} has no prompt: write one a line, of two words or more")
    return texts


def _json_texts(path: Path, number: int, line: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    if not line.strip():
        return
    try:
        json.loads(line)
    except ValueError as error:
        raise FairnessError(f"{path}:{number}: {str(error).partition(':')[0]}: write one JSON object a line") from None
    for literal in _LITERAL.finditer(line):
        if literal[2]:
            continue  # a key
        text = json.loads(f'"{literal[1]}"')
        parts = list(_CHARACTER.finditer(literal[1]))
        columns = tuple(literal.start(1) + part.start() + 1 for part in parts)
        # Two escapes can be one character (a surrogate pair): then all characters get the first column.
        yield text, columns if len(parts) == len(text) else (literal.start(1) + 1,) * len(text)


def _reason_without_variants(text: str, mentions: tuple[Mention, ...]) -> str:
    breaks = [mention for mention in mentions if mention.breaks and not mention.slot]
    if not mentions:
        return "nothing in it shows who it is about"
    if _BRACE.search(text):
        return "it has braces, which mark slots: it is a template already"
    if not is_one_person(mentions, text):
        return "it is about several people, or shows nobody's gender: mark the slots by hand"
    return breaks[0].breaks if breaks else ""


def report(path: Path, texts: list[PromptText]) -> Iterator[str]:
    """Yield a line ``file:line:column: kind 'word': slot`` for each mention, then a summary."""
    for text in texts:
        for mention in text.mentions:
            word = text.text[mention.start : mention.end]
            location = f"{path}:{text.line}:{text.columns[mention.start]}"
            way_out = ", ".join(filter(None, [mention.slot, mention.breaks]))
            yield f"{location}: {mention.kind} {word!r}: {way_out}"
    attributes: Mapping[str, int] = {
        "gender": sum(any(item.kind != "name" for item in text.mentions) for text in texts),
        "name": sum(any(item.kind == "name" for item in text.mentions) for text in texts),
    }
    breaks = sum(bool(mention.breaks) for text in texts for mention in text.mentions)
    complete = sum(not text.trouble for text in texts)
    shown = "; ".join(f"{name} can be varied in {count:,}" for name, count in attributes.items())
    yield (
        f"{path}: {counted(len(texts), 'text')}; {shown}; {complete:,} can be written out as they are; "
        f"{counted(breaks, 'place')} to look at, where grammar could break"
    )


def variants_or_reasons(
    texts: list[PromptText], language: str
) -> Iterator[tuple[PromptText, list[dict[str, Any]] | str]]:
    """Yield each text with its variants, or with the reason that it has none."""
    for text in texts:
        try:
            yield text, text.variants(language)
        except FairnessError as error:
            yield text, str(error)
