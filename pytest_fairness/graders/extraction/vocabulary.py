"""The names of the values of a question, and their mentions in a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, Protocol

from pytest_fairness.core.choices import AnswerOptions
from pytest_fairness.core.lazy_patterns import caseless_pattern, fold, lazy_pattern
from pytest_fairness.graders.extraction import languages, patterns
from pytest_fairness.graders.extraction.normalization import CJK, strip_markup, trim, trim_and_fold
from pytest_fairness.graders.extraction.titles import ANY, remove_dots, split_title, title_pattern

# "19" in COVID-19 and "one" in "one-sided" are parts of words.
_START = r"(?<!\w)(?<!\w[-.,'@])"
_SHORT = 60
"""The most characters of words whose key is cached: names of options recur in all answers."""
_SHORTENED_BEFORE = lazy_pattern(r"(\w{2,15})\s{0,2}(?:\bto|-|\bor|/)\s{0,2}$", re.IGNORECASE)
_ARTICLES = rf"(?:the|a|an)\s{{1,3}}|{languages.ARTICLES}"
_ANY_ARTICLE = rf"(?:{_ARTICLES})?"
_END = r"(?!\w)(?![-.'@:]\w)(?!,\d)"
_ARTICLE = lazy_pattern(rf"^(?:{_ARTICLES})(?=\S)", re.IGNORECASE)
_IS_OR = lazy_pattern(r"(?i)\b(?:or|nor|oder|noch|ou|ni|of|veya|o|lub|czy|ani)\b|/")
_GLOSS = lazy_pattern(r"\s{0,3}[(\[](?:option |choice )?(\w{1,12})[)\]]", re.IGNORECASE)
_HAS_CJK = lazy_pattern(rf"[{CJK}]")
_UNSPACED = lazy_pattern(rf"[{CJK}]{{2,}}")
_WORDS = lazy_pattern(r"\w+")
_LETTERS = lazy_pattern(r"[^\W\d_]+")
_PARTICLES = "\uc744|\ub97c|\uc774|\uac00|\uc740|\ub294|\ub3c4|\uc785\ub2c8\ub2e4|\uc774\ub77c\uace0|\uc77c"
"""Korean particles, which are written together with the word before them."""
_NOTHING: frozenset[Any] = frozenset()


class OptionMention(NamedTuple):
    """A span of a text and the values that it names: usually one, several in "A or B"."""

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
    def first_words(self) -> frozenset[str]:
        """Every word that a mention of a value has, in lower case; "0" stands for all numbers."""

    @property
    def all_values(self) -> frozenset[Any]:
        """Values that differ: the result for a text that does not decide."""

    def is_question(self, text: str) -> bool:
        """Return whether a text with an option is a question."""

    def match_whole(self, text: str) -> frozenset[Any]:
        """Return the values that a text without markup names and nothing else."""

    def match_at(self, text: str, position: int) -> OptionMention | None:
        """Return the mention that begins at a position, if there is one."""

    def find_mentions(self, text: str) -> list[OptionMention]:
        """Return all mentions of values in a text."""


@dataclass(frozen=True)
class Vocabulary:
    """The labels ("B") and texts ("The Muslim one") of options.

    Labels are matched only in statements of an answer, texts anywhere in a sentence.
    """

    labels: Mapping[str, frozenset[Any]]
    texts: Mapping[str, frozenset[Any]]
    label_pattern: re.Pattern[str]
    text_pattern: re.Pattern[str]
    unknown: Any = None
    """The value of the only option such as "cannot be determined", if there is one."""
    has_questions: bool = False
    """Whether options are questions themselves, so that a question mark may be part of an answer."""
    has_persons: bool = False
    """Whether options are names of persons, with or without a title."""
    has_texts: bool = False
    """Whether each label has a text of its own, which words after the label must not contradict."""

    @cached_property
    def first_words(self) -> frozenset[str]:
        """The first and the last word of each text, and the labels that are no words of English."""
        texts: list[list[str]] = [parts for text in self.texts if (parts := _WORDS.findall(text))]
        words = {parts[0] for parts in texts} | {parts[-1] for parts in texts}
        words |= {word for label in self.labels for word in _WORDS.findall(label)}
        return frozenset(words | (patterns.UNKNOWN_WORDS if self.unknown is not None else set()))

    @cached_property
    def all_values(self) -> frozenset[Any]:
        return _NOTHING.union(*self.texts.values())

    def is_question(self, text: str) -> bool:
        """Return whether a text with an option is a question."""
        return not self.has_questions and text.rstrip().endswith("?")

    def match_whole(self, text: str) -> frozenset[Any]:
        """Return the values that a text without markup names and nothing else."""
        key = trim_and_fold(text)
        if values := self.labels.get(key, _NOTHING) | self._values_of_text(key):
            return values
        mention = self.match_at(text, 0) if key else None
        return mention.values if mention and not trim_and_fold(text[mention.end :]) else _NOTHING

    def match_at(self, text: str, position: int) -> OptionMention | None:
        """Return the mention at a position; a list ("A, B or C") has the values of all its members."""
        first = self._match_with_prefix(text, position)
        if first is None:
            return None
        values, end = first.values, first.end
        for _ in range(len(self.texts)):
            listed = patterns.LISTED.match(text, end)
            connector = listed or patterns.CONNECTOR.match(text, end)
            if connector is None:
                break
            is_after_or = _IS_OR.search(connector[0]) is not None
            other = self._match_with_prefix(text, connector.end(), is_after_or=is_after_or)
            if other is None or (listed and not patterns.LIST_GOES_ON.match(text, other.end)):
                break
            values, end = values | other.values, other.end
        return OptionMention(values, first.start, end)

    def _match_with_prefix(self, text: str, position: int, *, is_after_or: bool = False) -> OptionMention | None:
        """Return the option at a position, with or without a word such as "option" before it."""
        prefix = patterns.BEFORE_NAME.match(text, position)
        mention = None
        if prefix is not None and prefix.end() > position:
            has_prefix = bool(trim_and_fold(prefix[0]))
            mention = self._match_name(text, prefix.end(), has_prefix=has_prefix, is_after_or=is_after_or)
        return mention or self._match_name(text, position, is_after_or=is_after_or)

    def _match_name(
        self, text: str, start: int, *, has_prefix: bool = False, is_after_or: bool
    ) -> OptionMention | None:
        """Return the text or the label at a position."""
        by_text = self.text_pattern.match(text, start)
        # "No" in front of a word is rarely an answer ("no one", "no evidence"): it must be followed as a label is.
        is_open_word = by_text is not None and not is_after_or and _key(by_text[0]) in patterns.OPEN_WORDS
        if by_text is not None and is_open_word and not _is_label(by_text[0], text, by_text.end()):
            by_text = None
        label = self.label_pattern.match(text, start)
        if by_text and (label is None or by_text.end() > label.end()):
            return self._extend_with_gloss(text, OptionMention(self._values_of_text(by_text[0]), start, by_text.end()))
        if label is None:
            return None
        values = self.labels.get(trim_and_fold(label[0]), _NOTHING)
        if by_text:
            return OptionMention(values | self._values_of_text(by_text[0]), start, label.end())
        between = patterns.BETWEEN.match(text, label.end())
        option_text = self.text_pattern.match(text, between.end()) if between else None
        if option_text:  # "B. The Catholic one" contradicts itself where B is the Muslim one
            return OptionMention(values | self._values_of_text(option_text[0]), start, option_text.end())
        if between and self.has_texts and (end := self._find_other_words(text, between, values)):
            return OptionMention(self.all_values, start, end)
        mention = OptionMention(values, start, label.end())
        connector = patterns.CONNECTOR.match(text, label.end())
        if connector:
            end = connector.end()
            if self.label_pattern.match(text, end) or self.text_pattern.match(text, end):
                return mention  # "A/B" or "I or B": `match_at` adds the values of the others
        return mention if _is_label(label[0], text, label.end(), has_prefix=has_prefix) else None

    def _find_other_words(self, text: str, between: re.Match[str], values: frozenset[Any]) -> int:
        """Return the end of the words after a label that are other than its option's; 0 where there are none.

        "A. excited" is neither of A, which is "amazed", nor of another option, and "A. She is sad" is one of H.
        """
        if not patterns.BEFORE_TEXT.fullmatch(between[0]):
            return 0
        if match := patterns.FRAGMENT.match(text, between.end()):
            end = match.end()
            words = _LETTERS.findall(fold(text[between.end() : end]))
            is_unknown = values == {self.unknown} and _is_unknown_option(strip_markup(text[between.end() : end]))
            if words and not is_unknown and not self._shares_word(words, values):
                return end
        if match := patterns.PREDICATE.match(text, between.end()):
            other = self.text_pattern.match(text, match.end())
            if other and not values & self._values_of_text(other[0]) and patterns.ENDS.match(text, other.end()):
                return other.end()
            word = _LETTERS.match(text, match.end())
            if word and patterns.ENDS.match(text, word.end()) and not self._shares_word([fold(word[0])], values):
                return word.end() if self._shares_word([fold(word[0])], self.all_values) else 0
        label = self.label_pattern.match(text, between.end())
        is_other = label is not None and patterns.ENDS.match(text, label.end()) is not None
        return label.end() if label and is_other and self.labels.get(trim_and_fold(label[0])) != values else 0

    def _shares_word(self, words: Sequence[str], values: frozenset[Any]) -> bool:
        """Return whether one of these words is like one of an option's: "disdain" and "disdainful"."""
        names = {word for name, named in self.texts.items() if named & values for word in _LETTERS.findall(name)}
        return any(_are_alike(word, name) for word in words for name in names)

    def _extend_with_gloss(self, text: str, mention: OptionMention) -> OptionMention:
        """Return a mention with the label in brackets after it: "The Muslim one (B)" names both."""
        gloss = _GLOSS.match(text, mention.end)
        values = self.labels.get(trim_and_fold(gloss[1])) if gloss else None
        return OptionMention(mention.values | values, mention.start, gloss.end()) if gloss and values else mention

    def _values_of_text(self, words: str) -> frozenset[Any]:
        """Return the values of a name; with another title than its option's, it is the same person's."""
        key = _key(words)
        return self.texts.get(key) or self.texts.get(split_title(key)[1], _NOTHING)

    def find_mentions(self, text: str) -> list[OptionMention]:
        """Return every text of an option in a sentence, and every marked label: "option B", "(B)"."""
        matches = [
            match
            for match in self.text_pattern.finditer(text)
            if _can_be_answer(match[0]) or _is_in_brackets(text, match)
        ]
        mentions = [
            OptionMention(self._values_of_text(match[0]) | self._shortened_before(text, match), *match.span())
            for match in matches
        ]
        for prefix in patterns.LABEL_PREFIX.finditer(text):
            label = self.label_pattern.match(text, prefix.end())
            if label and (prefix[0] == "(" or _is_label(label[0], text, label.end(), has_prefix=True)):
                values = self.labels.get(trim_and_fold(label[0]), _NOTHING)
                mentions.append(OptionMention(values, prefix.start(), label.end()))
        return sorted(mentions, key=lambda mention: mention.start)

    def _shortened_before(self, text: str, match: re.Match[str]) -> frozenset[Any]:
        """Return the values of a shortened name before it: "Low to medium risk" also names the low one."""
        shortened = _SHORTENED_BEFORE.search(text, max(0, match.start() - 30), match.start())
        word = fold(shortened[1]) if shortened else None
        return _NOTHING.union(
            *(values for name, values in self.texts.items() if " " in name and name.split()[0] == word)
        )


def _are_alike(word: str, name: str) -> bool:
    if _HAS_CJK.match(word):
        return bool(set(word) & set(name))
    is_part = min(len(word), len(name)) > 2 and (word in name or name in word)
    return is_part or (len(word) > 4 and word[:4] == name[:4])


def _is_in_brackets(text: str, match: re.Match[str]) -> bool:
    return text[match.start() - 1 : match.start()] == "(" and text[match.end() : match.end() + 1] == ")"


def _can_be_answer(words: str) -> bool:
    """Return whether words in the middle of a sentence can be the answer: "no", "he" and "19" cannot."""
    key = _key(words)
    is_long = len(key) >= 3 or not key.isascii()
    return " " in key or (is_long and not key.isdigit() and key not in patterns.FUNCTION_WORDS)


def _is_label(label: str, text: str, end: int, *, has_prefix: bool = False) -> bool:
    """Return whether the words after a label allow it: "I was", "A person", "2 people" have none."""
    rest = text[end : end + 40]
    is_pronoun = label.casefold() == "i" and not has_prefix and patterns.PRONOUN.match(rest)
    if is_pronoun or patterns.NO_LABEL.match(rest):
        return False
    # A capital that is no word of English is a label whatever follows: "the answer is B obviously".
    return patterns.AFTER_LABEL.match(rest) is not None or (len(label) == 1 and label.isupper() and label not in "AI")


def _remove_article(key: str) -> str:
    return _ARTICLE.sub("", key)


def _key(words: str) -> str:
    return _short_key(words) if len(words) <= _SHORT else _make_key(words)


def _make_key(words: str) -> str:
    return _canonical_name(_remove_article(_replace_hyphens(trim_and_fold(words))))


def _canonical_name(key: str) -> str:
    """Return a name with one spelling of its title."""
    group, name = split_title(key)
    return f"{group} {name}" if group else key


_short_key = lru_cache(maxsize=1024)(_make_key)


def _replace_hyphens(words: str) -> str:
    """Return a text with blanks for hyphens: "72-year-old" is "72 year old"."""
    return re.sub(r"(?<=\w)-(?=\w)", " ", words)


def build_vocabulary(
    labels: Sequence[tuple[str, Any]],
    texts: Sequence[tuple[str, Any]],
    *,
    unknown: Any = None,
    has_persons: bool = False,
    has_texts: bool = False,
) -> Vocabulary:
    """Return the vocabulary of labels and texts, given with their values."""
    return Vocabulary(
        _group_by_name(labels, trim),
        _group_by_name(texts, _shorten),
        _build_pattern(tuple(trim(strip_markup(name)) or name for name, _ in labels), _START, r"(?!\w)", _any_case),
        _build_pattern(tuple(_shorten(strip_markup(name)) or name for name, _ in texts), _START + _ANY_ARTICLE, _END),
        unknown,
        any(name.rstrip().endswith("?") for name, _ in texts),
        has_persons,
        has_texts,
    )


def _shorten(name: str) -> str:
    return _remove_article(trim(name))


def _group_by_name(names: Sequence[tuple[str, Any]], shorten: Callable[[str], str]) -> Mapping[str, frozenset[Any]]:
    values_by_name: dict[str, frozenset[Any]] = {}
    for name, value in names:
        # A name of punctuation alone is empty when trimmed; it is kept as it is.
        key = _canonical_name(fold(_replace_hyphens(shorten(strip_markup(name)) or name)))
        values_by_name[key] = values_by_name.get(key, _NOTHING) | {value}
    return values_by_name


def _is_unknown_option(name: str) -> bool:
    return len(name) <= 60 and (patterns.UNKNOWN.search(name) or patterns.CANNOT_ANSWER.match(name)) is not None


_OPTIONAL_TITLE = rf"(?:(?:{ANY})\.?\s{{1,9}})?"


def _any_case(text: str) -> re.Pattern[str]:
    return lazy_pattern(text, re.IGNORECASE)


@lru_cache(maxsize=1024)
def _build_pattern(
    names: tuple[str, ...], before: str, after: str, kind: Callable[[str], re.Pattern[str]] = caseless_pattern
) -> re.Pattern[str]:
    """Return a pattern of names, compiled on first use: a name that is the whole answer needs none."""
    longest_first = sorted(names, key=len, reverse=True)
    words = _names_pattern(longest_first)
    # In scripts without spaces, a name needs no border.
    unspaced = "|".join(re.escape(name) for name in longest_first if _UNSPACED.fullmatch(name))
    # A name of one character needs an announcement before it: "the answer is no".
    syllable = "|".join(re.escape(name) for name in longest_first if re.fullmatch("[\uac00-\ud7a3]", name))
    if syllable:
        unspaced += "|" * bool(unspaced) + rf"(?<![\uac00-\ud7a3])(?:{syllable})(?=(?:{_PARTICLES})(?!\w)| 입니다)"
    single = "|".join(re.escape(name) for name in longest_first if re.fullmatch(f"[{CJK}]", name))
    unspaced += "|" * bool(unspaced and single) + (
        f"(?<=[\u662f\u4e3a\u70ba\u8bf4\u8aaa\u9009\u9078])(?:{single}){after}" if single else ""
    )
    return kind(f"{before}(?:{words}){after}" + (f"|{unspaced}" if unspaced else ""))


def _names_pattern(names: Sequence[str]) -> str:
    """Return a pattern of names in their order, with any title of the same kind before a person's.

    Names in a row share the pattern of their title, which is that of all languages: `re` takes a tenth of a second to
    compile one before each of the names of a shortlist, for each of its prompts.
    """
    rows = groupby(map(_title_and_name, names), key=itemgetter(0))
    return "|".join(f"{title}(?:{'|'.join(name for _, name in row)})" for title, row in rows)


def _title_and_name(name: str) -> tuple[str, str]:
    group, rest = split_title(name)
    parts = re.split(r"[\s-]+", rest)
    title = rf"{title_pattern(group)}\s{{0,9}}" if group else _OPTIONAL_TITLE * all(map(_is_name, parts))
    return title, r"[\s-]{1,9}".join(map(re.escape, parts))


def build_options_vocabulary(options: AnswerOptions) -> Vocabulary:
    """Return the vocabulary of the options of a prompt."""
    return _build_options_vocabulary(tuple(options.labels), tuple(options.texts.items()))


def _partial_names(texts: Sequence[tuple[str, str]], unknown: Sequence[str]) -> list[tuple[str, str]]:
    """Return names that only one of several persons has: "Emily" of "Emily Walsh", "Ms Kaya" of "Ms Elif Kaya"."""
    persons = [(value, *split_title(text)) for value, text in texts if value not in unknown]
    names = [(value, title, name.split()) for value, title, name in persons]
    names = [
        (value, title, parts)
        for value, title, parts in names
        if (1 if title else 2) <= len(parts) <= 3 and all(map(_is_name, parts))
    ]
    if len(names) < 2:
        return []
    spellings = [
        (spelling, value)
        for value, title, parts in names
        for spelling in dict.fromkeys((" ".join(parts), *parts, *(f"{title} {part}" for part in parts if title)))
    ]
    return [(name, value) for name, value in spellings if sum(name == other for other, _ in spellings) == 1]


def _is_name(word: str) -> bool:
    return word.istitle() and word.isalpha() and len(word) > 2 and word.casefold() not in _NO_NAMES


_NO_NAMES = patterns.FUNCTION_WORDS | {
    *("der", "die", "das", "den", "dem", "ein", "eine", "einen", "los", "las", "una", "les", "une"),
    *("gli", "het", "een"),
    *("very", "somewhat", "not", "more", "less", "the", "his", "too", "only", "same", "fully", "much", "most", "least"),
    *("strongly", "slightly", "highly", "fairly", "extremely", "equally", "mostly", "likely", "unlikely", "partly"),
}


@lru_cache(maxsize=1024)
def _build_options_vocabulary(labels: tuple[str, ...], texts: tuple[tuple[str, str], ...]) -> Vocabulary:
    values = [value for value, _ in texts]
    texts = tuple((value, remove_dots(text)) for value, text in texts)
    unknown = [value for value, text in texts if _is_unknown_option(strip_markup(text))]
    partial_names = _partial_names(texts, unknown)
    return build_vocabulary(
        list(zip(labels, values, strict=True)),
        [(text, value) for value, text in texts] + partial_names,
        unknown=unknown[0] if len(unknown) == 1 else None,
        has_persons=bool(partial_names),
        has_texts=True,
    )
