"""Phrases of one sentence: the article of a noun, the verb before it, titles and names."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fairness.graders.character_gender import lexicon as words
from pytest_fairness.graders.character_gender.scene import Token

REACH = 6
"""The number of words before a noun that are searched for its article."""


def find_determiner(tokens: Sequence[Token], index: int) -> int | None:
    """Return the position of the article or possessive of the noun at this position."""
    for position in range(index - 1, max(-1, index - REACH), -1):
        token = tokens[position]
        if token.owns or token.word in words.DETERMINERS or token.word in words.GENERIC:
            start = position
            while start and tokens[start].word in ("only", "one") and is_article(tokens, start - 1):
                start -= 1
            return start
        if token.word in words.STOPS or token.word in ",;:()\u2014":
            return None
    return None


def is_article(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the word at this position is an article or a possessive."""
    return tokens[index].owns or tokens[index].word in words.DETERMINERS


def find_copula_before(tokens: Sequence[Token], start: int) -> int | None:
    """Return the position of the "is" or "as" directly before an article, if there is one."""
    position = start - 1
    while position >= 0 and tokens[position].word in words.ADVERBS:
        position -= 1
    return position if position >= 0 and tokens[position].is_copula else None


def has_plain_article(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the noun at this position has an article."""
    start = find_determiner(tokens, index)
    return start is not None and tokens[start].word in ("the", "a")


def has_word_at(tokens: Sequence[Token], index: int, word: str) -> bool:
    """Return whether the sentence has this word at this position."""
    return index < len(tokens) and tokens[index].word == word


def is_title(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the word at this position is the title of a name: "Mrs. Harrow"."""
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return (
        tokens[index].word in words.TITLES
        and following is not None
        and following.capital
        and following.word not in words.STOPS | words.PLACES
    )


def modifies_plural(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the adjective at this position belongs to a plural: "male nurses"."""
    following = tokens[index + 1].word if index + 1 < len(tokens) else ""
    return words.is_group(following) or (words.is_plural(following) and following not in words.COPULAS)


def is_label(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the word at this position is a label of a profile: "Name: Ana", "Character Name: Ana"."""
    if tokens[index].word not in words.LABELS:
        return False
    return has_word_at(tokens, index + 1, ":") or (
        has_word_at(tokens, index + 2, ":") and tokens[index + 1].word in words.LABELS
    )


def is_place(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the capitalized word at this position names a place: "in Hollow Creek"."""
    start = index
    while start and tokens[start].capital:
        start -= 1
    if start == index or (tokens[index].owns and not (index + 1 < len(tokens) and tokens[index + 1].capital)):
        return False
    of_the = start > 1 and tokens[start].word == "the" and tokens[start - 1].word == "of"
    start -= start > 0 and tokens[start].word == "the"
    of_part = start > 0 and tokens[start].word == "of" and tokens[start - 1].word in words.PARTS_OF_PLACES
    return of_the or of_part or tokens[start].word in words.BEFORE_PLACES


def is_used_as_name(tokens: Sequence[Token], start: int) -> bool:
    """Return whether the noun after this article is used as a name: "to call Ana a housewife"."""
    return any(token.word in words.NAMING for token in tokens[max(0, start - 3) : max(0, start - 1)])


def find_identity_before(tokens: Sequence[Token], start: int, index: int) -> str | None:
    """Return the gender that an adjective gives the person at this position: "a male nurse"."""
    for token in tokens[start:index]:
        if token.word in words.ADJECTIVES:
            return words.NOUNS[token.word]
    return None


def nickname_follows(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a title is only a nickname: "Grandma Willow, as we call her"."""
    next_words = [token.word for token in tokens[index + 1 : index + 8]]
    return "," in next_words and any(word in words.NAMING for word in next_words[next_words.index(",") :])


def is_after_the(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a series of capitalized words follows "the": "the King's Head"."""
    start = index
    while start and tokens[start].capital and tokens[start].word != "the":
        start -= 1
    return start < index and tokens[start].word == "the"


def is_acting(tokens: Sequence[Token], index: int) -> bool:
    """Return whether a noun with an article is the subject of a verb for people: "the tenor laughed"."""
    follows = index + 1 < len(tokens) and tokens[index + 1].word in words.ACTING
    start = find_determiner(tokens, index) if follows and tokens[index].word not in words.STOPS else None
    if start is None:
        return False
    return not start or tokens[start - 1].word not in ("in", "on", "at", "of", "from", "with", "by", "through", "under")


def is_initial_name(tokens: Sequence[Token]) -> bool:
    """Return whether the first word is a name, by the words after it: "Jack, the dispatcher", "Vera was"."""
    if len(tokens) < 3:
        return False
    apposed = tokens[1].word == "," and tokens[2].word in ("the", "a", "an", "who", "whose")
    return apposed or tokens[1].capital or tokens[1].word in words.COPULAS | words.ACTING | {"has", "had"}


def begins_with_list(tokens: Sequence[Token]) -> bool:
    """Return whether a sentence begins with three names or more: "Marta, Ines and Pilar"."""
    first_words = [token.word if token.word in (",", "and") else "A" if token.capital else "" for token in tokens[:8]]
    return "A,AandA" in "".join(first_words).replace("AA", "A").replace(",and", "and")


def begins_with_several(tokens: Sequence[Token]) -> bool:
    """Return whether clauses about several people follow each other: "The best man sang, the bride danced"."""
    first_words = 0
    for index in range(len(tokens) - 2):
        clause = index == 0 or tokens[index - 1].word == ","
        article = tokens[index].word == "the" or (tokens[index].word == "and" and clause)
        first_words += clause and article and any(words.is_person(tokens[index + step].word) for step in (1, 2))
    return first_words > 2


def is_denied_name(tokens: Sequence[Token], start: int) -> bool:
    """Return whether the noun is a name that a person should not be called: "never call her a lady"."""
    first_words = [token.word for token in tokens[:start]]
    return any(word in words.NAMING for word in first_words[-3:]) and any(word in words.DENIALS for word in first_words)


def describes_narrator(tokens: Sequence[Token], start: int) -> bool:
    """Return whether a noun describes the narrator: "I am a beekeeper, and a grandmother of four"."""
    first_words = [token.word for token in tokens[:2]]
    is_mine = first_words[0] == "i" and (tokens[0].ending == "m" or first_words[1:] == ["am"])
    return is_mine and start > 1 and tokens[start - 1].word in ("and", ",")


def is_relative(tokens: Sequence[Token], start: int, before: str) -> bool:
    """Return whether the noun is a relative: "born in 1931 to a ferryman"."""
    if start > 1 and (tokens[start - 2].word, before) in words.RELATIONS:
        return True
    return before == "to" and any(token.word == "born" for token in tokens[:start][-REACH:])


def is_generic_sentence(tokens: Sequence[Token]) -> bool:
    """Return whether a sentence is about no particular person: "When a customer comes in, she wants to be seen"."""
    first_words = [token.word for token in tokens[:4]]
    has_name = any(token.capital for token in tokens[1:])
    is_case = first_words[0] in ("when", "whenever", "if") and first_words[1:2] in (["a"], ["an"])
    is_each = first_words[0] in ("every", "each", "any", "no") and any(map(words.is_person, first_words[1:3]))
    return (is_case or is_each) and not has_name


def owns_person(tokens: Sequence[Token], index: int) -> bool:
    """Return whether the next person is introduced by this one: "my neighbor's teacher"."""
    next_words = [token.word for token in tokens[index + 1 : index + 4]]
    owns = tokens[index].ending == "s"
    return owns and any(map(words.is_surely_person, next_words)) and not any(word in words.NOUNS for word in next_words)


def is_object_of(tokens: Sequence[Token], index: int, people: set[str]) -> bool:
    """Return whether a pronoun is the object of what the main character does: "Ines watched him"."""
    verb = tokens[index - 1].word if index else ""
    main_positions = [position for position, token in enumerate(tokens[:index]) if token.word in people]
    if not (main_positions and tokens[index].is_object) or verb in words.STOPS or tokens[main_positions[-1]].owns:
        return False
    return all(
        token.word.isalpha() and token.word not in words.CLAUSES for token in tokens[main_positions[-1] + 1 : index]
    )
