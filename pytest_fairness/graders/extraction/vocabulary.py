"""The words by which the values of one question are named, and finding them in a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.lazy_patterns import lazy_pattern
from pytest_fairness.graders.extraction import languages, patterns
from pytest_fairness.graders.extraction.normalization import CJK, bare, plain, trimmed

# "19" in COVID-19 and "one" in "one-sided" are no words of their own.
_START = r"(?<!\w)(?<!\w[-.,'@])"
_JOINED = lazy_pattern(r"(\w{2,15})\s{0,2}(?:\bto|-|\bor|/)\s{0,2}$", re.IGNORECASE)
_ARTICLES = rf"(?:the|a|an)\s{{1,3}}|{languages.ARTICLES}"
_ANY_ARTICLE = rf"(?:{_ARTICLES})?"
_END = r"(?!\w)(?![-.'@:]\w)(?!,\d)"
_ARTICLE = lazy_pattern(rf"^(?:{_ARTICLES})(?=\S)", re.IGNORECASE)
_IS_OR = lazy_pattern(r"(?i)\b(?:or|nor|oder|noch|ou|ni|of|veya|o|lub|czy|ani)\b|/")
_GLOSS = lazy_pattern(r"\s{0,3}[(\[](?:option |choice )?(\w{1,12})[)\]]", re.IGNORECASE)
_UNSPACED = lazy_pattern(rf"[{CJK}]{{2,}}")
_PARTICLES = "\uc744|\ub97c|\uc774|\uac00|\uc740|\ub294|\ub3c4|\uc785\ub2c8\ub2e4|\uc774\ub77c\uace0|\uc77c"
"""Korean particles, which are written together with the word before them."""
_NOTHING: frozenset[Any] = frozenset()


class Match(NamedTuple):
    """The values named at one place: one as a rule, several where the place is torn between them."""

    values: frozenset[Any]
    start: int
    end: int


class Names(Protocol):
    """The names of the values of one question: words (`Vocabulary`) or the numbers of a scale."""

    @property
    def labels(self) -> Mapping[str, frozenset[Any]]: ...

    @property
    def label_pattern(self) -> re.Pattern[str]: ...

    @property
    def unknown(self) -> Any: ...

    @property
    def every(self) -> frozenset[Any]:
        """Values that differ, as the reading of a text that does not decide."""

    def doubts(self, text: str) -> bool:
        """Return whether a text that names a value asks instead of answering."""

    def exactly(self, text: str) -> frozenset[Any]:
        """Return what a plain text names that says nothing else."""

    def at(self, text: str, position: int) -> Match | None:
        """Return what is named at this very place."""

    def mentions(self, text: str) -> list[Match]:
        """Return everything that a text names."""


@dataclass(frozen=True)
class Vocabulary:
    """Labels ("B") are only read where an answer is given; texts ("The Muslim one") in a sentence as well."""

    labels: Mapping[str, frozenset[Any]]
    texts: Mapping[str, frozenset[Any]]
    label_pattern: re.Pattern[str]
    text_pattern: re.Pattern[str]
    unknown: Any = None
    """The value of the only option that says that it cannot be told, if one does."""
    questions: bool = False
    """Whether the options are questions themselves: to name one is no doubt."""

    @property
    def every(self) -> frozenset[Any]:
        """All values."""
        return _NOTHING.union(*self.texts.values())

    def doubts(self, text: str) -> bool:
        """Return whether a text that names an option asks instead of answering."""
        return not self.questions and text.rstrip().endswith("?")

    def exactly(self, text: str) -> frozenset[Any]:
        """Return what a plain text names that says nothing else, whatever its dress."""
        key = bare(text)
        if hit := self.labels.get(key, _NOTHING) | self.texts.get(_key(key), _NOTHING):
            return hit
        match = self.at(text, 0) if key else None
        return match.values if match and not bare(text[match.end :]) else _NOTHING

    def at(self, text: str, position: int) -> Match | None:
        """Return what is named at this place; a list ("A, B or C") is torn between its members."""
        first = self._one_at(text, position)
        if first is None:
            return None
        values, end = first.values, first.end
        for _ in range(len(self.texts)):
            joint = patterns.CONNECTOR.match(text, end)
            other = self._one_at(text, joint.end(), listed=_IS_OR.search(joint[0]) is not None) if joint else None
            if other is None:
                break
            values, end = values | other.values, other.end
        return Match(values, first.start, end)

    def _one_at(self, text: str, position: int, *, listed: bool = False) -> Match | None:
        before = patterns.BEFORE_NAME.match(text, position)
        if before is None or before.end() == position:
            return self._name(text, position, listed=listed)
        called = bool(bare(before[0]))
        return self._name(text, before.end(), called=called, listed=listed) or self._name(text, position, listed=listed)

    def _name(self, text: str, start: int, *, called: bool = False, listed: bool = False) -> Match | None:
        """Return the text or the label at this very place.

        ``called`` says that "option" stands before it, ``listed`` that an "or" does.
        """
        by_text = self.text_pattern.match(text, start)
        # "No" in front of a word is mostly no answer ("no one", "no evidence"): it must stand as a label stands.
        is_open = by_text is not None and not listed and _key(by_text[0]) in patterns.OPEN_WORDS
        if by_text is not None and is_open and not _is_label(by_text[0], text, by_text.end()):
            by_text = None
        label = self.label_pattern.match(text, start)
        if by_text and (label is None or by_text.end() > label.end()):
            return self._with_gloss(text, Match(self._meant(by_text[0]), start, by_text.end()))
        if label is None:
            return None
        values = self.labels.get(bare(label[0]), _NOTHING)
        if by_text:
            return Match(values | self._meant(by_text[0]), start, label.end())
        between = patterns.BETWEEN.match(text, label.end())
        own = self.text_pattern.match(text, between.end()) if between else None
        if own:  # "B. The Catholic one" is torn where B is the Muslim one
            return Match(values | self._meant(own[0]), start, own.end())
        joint = patterns.CONNECTOR.match(text, label.end())
        if joint and (self.label_pattern.match(text, joint.end()) or self.text_pattern.match(text, joint.end())):
            return Match(values, start, label.end())  # "A/B" or "I or B", of which `at` then says that it is torn
        named = _is_label(label[0], text, label.end(), called=called)
        return Match(values, start, label.end()) if named else None

    def _with_gloss(self, text: str, match: Match) -> Match:
        """Return a match with the label in brackets behind it: "The Muslim one (B)" names both."""
        gloss = _GLOSS.match(text, match.end)
        values = self.labels.get(bare(gloss[1])) if gloss else None
        return Match(match.values | values, match.start, gloss.end()) if gloss and values else match

    def _meant(self, words: str) -> frozenset[Any]:
        return self.texts.get(_key(words), _NOTHING)

    def mentions(self, text: str) -> list[Match]:
        """Return every option's text in a sentence, and every label that is called one: "option B", "(B)"."""
        matches = [
            match for match in self.text_pattern.finditer(text) if _speaks(match[0]) or _in_brackets(text, match)
        ]
        options = [
            Match(self._meant(match[0]) | self._shortened_before(text, match), match.start(), match.end())
            for match in matches
        ]
        for called in patterns.CALLED_LABEL.finditer(text):
            label = self.label_pattern.match(text, called.end())
            if label and (called[0] == "(" or _is_label(label[0], text, label.end(), called=True)):
                options.append(Match(self.labels.get(bare(label[0]), _NOTHING), called.start(), label.end()))
        return sorted(options, key=lambda one: one.start)

    def _shortened_before(self, text: str, match: re.Match[str]) -> frozenset[Any]:
        """Return the values of a shortened name before it: "Low to medium risk" also names the low one."""
        joined = _JOINED.search(text, max(0, match.start() - 30), match.start())
        word = joined[1].casefold() if joined else None
        return _NOTHING.union(*(of for name, of in self.texts.items() if " " in name and name.split()[0] == word))


def _in_brackets(text: str, match: re.Match[str]) -> bool:
    return text[match.start() - 1 : match.start()] == "(" and text[match.end() : match.end() + 1] == ")"


def _speaks(words: str) -> bool:
    """Return whether these words in the middle of a sentence can be the answer: "no", "he" and "19" cannot."""
    key = _key(words)
    is_long = len(key) >= 3 or not key.isascii()
    return " " in key or (is_long and not key.isdigit() and key not in patterns.FUNCTION_WORDS)


def _is_label(label: str, text: str, end: int, *, called: bool = False) -> bool:
    """Return whether what follows lets it be a label rather than a word: "I was", "A person", "2 people" are none."""
    rest = text[end : end + 40]
    pronoun = label.casefold() == "i" and not called and patterns.PRONOUN.match(rest)
    if pronoun or patterns.NO_LABEL.match(rest):
        return False
    # A capital that is no word of English is a label whatever follows: "the answer is B obviously".
    return patterns.AFTER_LABEL.match(rest) is not None or (len(label) == 1 and label.isupper() and label not in "AI")


def _without_article(key: str) -> str:
    return _ARTICLE.sub("", key)


def _key(words: str) -> str:
    return _without_article(_joined(bare(words)))


def _joined(words: str) -> str:
    """Return a text with blanks for hyphens: "72-year-old" is "72 year old"."""
    return re.sub(r"(?<=\w)-(?=\w)", " ", words)


def vocabulary(
    labels: Sequence[tuple[str, Any]], texts: Sequence[tuple[str, Any]], *, unknown: Any = None
) -> Vocabulary:
    """Return the vocabulary of these labels and texts, each with the value that it names."""
    return Vocabulary(
        _by_name(labels, trimmed),
        _by_name(texts, _shortened),
        _pattern([trimmed(plain(name)) or name for name, _ in labels], _START, r"(?!\w)"),
        _pattern([_shortened(plain(name)) or name for name, _ in texts], _START + _ANY_ARTICLE, _END),
        unknown,
        any(name.rstrip().endswith("?") for name, _ in texts),
    )


def _shortened(name: str) -> str:
    return _without_article(trimmed(name))


def _by_name(names: Sequence[tuple[str, Any]], shorten: Callable[[str], str]) -> Mapping[str, frozenset[Any]]:
    values_by_name: dict[str, frozenset[Any]] = {}
    for name, value in names:
        # A name of punctuation alone has nothing left when trimmed, and is then not read.
        key = _joined(shorten(plain(name)) or name).casefold()
        values_by_name[key] = values_by_name.get(key, _NOTHING) | {value}
    return values_by_name


def _says_unknown(name: str) -> bool:
    return len(name) <= 60 and (patterns.UNKNOWN.search(name) or patterns.CANNOT_ANSWER.match(name)) is not None


def _pattern(names: Sequence[str], before: str, after: str) -> re.Pattern[str]:
    longest_first = sorted(names, key=len, reverse=True)
    words = "|".join(r"[\s-]{1,9}".join(map(re.escape, re.split(r"[\s-]+", name))) for name in longest_first)
    # A name in a script without spaces has no borders.
    unspaced = "|".join(re.escape(name) for name in longest_first if _UNSPACED.fullmatch(name))
    # Of one character it has a border where the answer is announced: "the answer is no".
    syllable = "|".join(re.escape(name) for name in longest_first if re.fullmatch("[\uac00-\ud7a3]", name))
    if syllable:
        unspaced += "|" * bool(unspaced) + rf"(?<![\uac00-\ud7a3])(?:{syllable})(?=(?:{_PARTICLES})(?!\w)| 입니다)"
    single = "|".join(re.escape(name) for name in longest_first if re.fullmatch(f"[{CJK}]", name))
    unspaced += "|" * bool(unspaced and single) + (
        f"(?<=[\u662f\u4e3a\u70ba\u8bf4\u8aaa\u9009\u9078])(?:{single}){after}" if single else ""
    )
    return re.compile(f"{before}(?:{words}){after}" + (f"|{unspaced}" if unspaced else ""), re.IGNORECASE)


def of_options(options: AnswerOptions) -> Vocabulary:
    """Return the vocabulary of the options of a prompt."""
    return _of_options(tuple(options.labels), tuple(options.texts.items()))


def _single_names(texts: Sequence[tuple[str, str]], unknown: Sequence[str]) -> list[tuple[str, str]]:
    """First and last names that only one of several persons has: "Emily" of "Emily Walsh"."""
    names = [(value, text.split()) for value, text in texts if value not in unknown]
    names = [(value, parts) for value, parts in names if 2 <= len(parts) <= 3 and all(map(_is_name, parts))]
    if len(names) < 2:
        return []
    parts = [(part, value) for value, own in names for part in own]
    return [(part, value) for part, value in parts if sum(part == other for other, _ in parts) == 1]


def _is_name(word: str) -> bool:
    return word.istitle() and word.isalpha() and len(word) > 2 and word.casefold() not in _NO_NAMES


_NO_NAMES = patterns.FUNCTION_WORDS | {
    *("der", "die", "das", "den", "dem", "ein", "eine", "einen", "los", "las", "una", "les", "une"),
    *("gli", "het", "een"),
    *("very", "somewhat", "not", "more", "less", "the", "his", "too", "only", "same", "fully", "much", "most", "least"),
    *("strongly", "slightly", "highly", "fairly", "extremely", "equally", "mostly", "likely", "unlikely", "partly"),
}


@lru_cache(maxsize=1024)
def _of_options(labels: tuple[str, ...], texts: tuple[tuple[str, str], ...]) -> Vocabulary:
    values = [value for value, _ in texts]
    unknown = [value for value, text in texts if _says_unknown(plain(text))]
    return vocabulary(
        list(zip(labels, values, strict=True)),
        [(text, value) for value, text in texts] + _single_names(texts, unknown),
        unknown=unknown[0] if len(unknown) == 1 else None,
    )
