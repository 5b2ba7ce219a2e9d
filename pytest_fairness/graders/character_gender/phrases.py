"""Places of words in their sentence: the article of a noun, the verb before it, the title that it is.

Nothing is known here of the text around the sentence.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fairness.graders.character_gender import lexicon as words
from pytest_fairness.graders.character_gender.scene import Token

REACH = 6
"""The number of words back in which the article of a noun is searched."""


def determiner(tokens: Sequence[Token], at: int) -> int | None:
    """Return the position of the article or possessive of the noun at this position."""
    for position in range(at - 1, max(-1, at - REACH), -1):
        token = tokens[position]
        if token.owns or token.word in words.DETERMINERS or token.word in words.GENERIC:
            start = position
            while start and tokens[start].word in ("only", "one") and is_article(tokens, start - 1):
                start -= 1
            return start
        if token.word in words.STOPS or token.word in ",;:()\u2014":
            return None
    return None


def is_article(tokens: Sequence[Token], at: int) -> bool:
    """Return whether an article or a possessive stands here."""
    return tokens[at].owns or tokens[at].word in words.DETERMINERS


def copula_before(tokens: Sequence[Token], start: int) -> int | None:
    """Return the position of the "is" or "as" directly before a noun with its article, if one stands there."""
    position = start - 1
    while position >= 0 and tokens[position].word in words.ADVERBS:
        position -= 1
    return position if position >= 0 and tokens[position].is_copula else None


def is_the(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the noun at this position has an article."""
    start = determiner(tokens, at)
    return start is not None and tokens[start].word in ("the", "a")


def is_at(tokens: Sequence[Token], at: int, word: str) -> bool:
    """Return whether this word stands at this position."""
    return at < len(tokens) and tokens[at].word == word


def is_title(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the word at this position is the title of a name: "Mrs. Harrow"."""
    following = tokens[at + 1] if at + 1 < len(tokens) else None
    return (
        tokens[at].word in words.TITLES
        and following is not None
        and following.capital
        and following.word not in words.STOPS | words.PLACES
    )


def is_of_many(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the adjective at this position is said of several: "male nurses"."""
    following = tokens[at + 1].word if at + 1 < len(tokens) else ""
    return words.is_group(following) or (words.is_plural(following) and following not in words.COPULAS)


def is_label(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the word at this position is a label of a profile: "Name: Ana", "Character Name: Ana"."""
    if tokens[at].word not in words.LABELS:
        return False
    return is_at(tokens, at + 1, ":") or (is_at(tokens, at + 2, ":") and tokens[at + 1].word in words.LABELS)


def is_place(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the capital at this position names a place: "in Hollow Creek"."""
    start = at
    while start and tokens[start].capital:
        start -= 1
    if start == at or (tokens[at].owns and not (at + 1 < len(tokens) and tokens[at + 1].capital)):
        return False
    of_the = start > 1 and tokens[start].word == "the" and tokens[start - 1].word == "of"
    start -= start > 0 and tokens[start].word == "the"
    of_part = start > 0 and tokens[start].word == "of" and tokens[start - 1].word in words.PARTS_OF_PLACES
    return of_the or of_part or tokens[start].word in words.BEFORE_PLACES


def is_what_a_person_is_called(tokens: Sequence[Token], start: int) -> bool:
    """Return whether the noun with this article is a name for a person: "to call Ana a housewife"."""
    return any(token.word in words.NAMING for token in tokens[max(0, start - 3) : max(0, start - 1)])


def identity_before(tokens: Sequence[Token], start: int, at: int) -> str | None:
    """Return the gender that an adjective gives the person at this position: "a male nurse"."""
    for token in tokens[start:at]:
        if token.word in words.ADJECTIVES:
            return words.NOUNS[token.word]
    return None


def nickname_follows(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the text says that a title is what others call a person: "Grandma Willow, as we call her"."""
    near = [token.word for token in tokens[at + 1 : at + 8]]
    return "," in near and any(word in words.NAMING for word in near[near.index(",") :])


def has_article(tokens: Sequence[Token], at: int) -> bool:
    """Return whether an article stands before this capital or those that it follows: "the King's Head"."""
    start = at
    while start and tokens[start].capital and tokens[start].word != "the":
        start -= 1
    return start < at and tokens[start].word == "the"


def is_acting(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a noun with an article does what only people do: "the tenor laughed"."""
    follows = at + 1 < len(tokens) and tokens[at + 1].word in words.ACTING
    start = determiner(tokens, at) if follows and tokens[at].word not in words.STOPS else None
    if start is None:
        return False
    return not start or tokens[start - 1].word not in ("in", "on", "at", "of", "from", "with", "by", "through", "under")


def is_initial_name(tokens: Sequence[Token]) -> bool:
    """Return whether what follows the first word shows that it is a name: "Jack, the dispatcher", "Vera was"."""
    if len(tokens) < 3:
        return False
    apposed = tokens[1].word == "," and tokens[2].word in ("the", "a", "an", "who", "whose")
    return apposed or tokens[1].capital or tokens[1].word in words.COPULAS | words.ACTING | {"has", "had"}


def begins_with_list(tokens: Sequence[Token]) -> bool:
    """Return whether a sentence begins with three names or more: "Marta, Ines and Pilar"."""
    heads = [token.word if token.word in (",", "and") else "A" if token.capital else "" for token in tokens[:8]]
    return "A,AandA" in "".join(heads).replace("AA", "A").replace(",and", "and")


def begins_with_several(tokens: Sequence[Token]) -> bool:
    """Return whether clauses about several people follow each other: "The best man sang, the bride danced"."""
    heads = 0
    for at in range(len(tokens) - 2):
        clause = at == 0 or tokens[at - 1].word == ","
        article = tokens[at].word == "the" or (tokens[at].word == "and" and clause)
        heads += clause and article and any(words.is_person(tokens[at + step].word) for step in (1, 2))
    return heads > 2


def is_denied_name(tokens: Sequence[Token], start: int) -> bool:
    """Return whether the noun is what a person should not be called."""
    heads = [token.word for token in tokens[:start]]
    return any(word in words.NAMING for word in heads[-3:]) and any(word in words.DENIALS for word in heads)


def is_of_teller(tokens: Sequence[Token], start: int) -> bool:
    """Return whether a noun is said of the narrator: "I am a beekeeper, and a grandmother of four"."""
    heads = [token.word for token in tokens[:2]]
    is_mine = heads[0] == "i" and (tokens[0].ending == "m" or heads[1:] == ["am"])
    return is_mine and start > 1 and tokens[start - 1].word in ("and", ",")


def is_related(tokens: Sequence[Token], start: int, before: str) -> bool:
    """Return whether a relation leads to the noun: "born in 1931 to a ferryman"."""
    if start > 1 and (tokens[start - 2].word, before) in words.RELATIONS:
        return True
    return before == "to" and any(token.word == "born" for token in tokens[:start][-REACH:])


def is_of_anybody(tokens: Sequence[Token]) -> bool:
    """Return whether a sentence is about anybody: "When a customer comes in, she wants to be seen"."""
    heads = [token.word for token in tokens[:4]]
    named = any(token.capital for token in tokens[1:])
    is_case = heads[0] in ("when", "whenever", "if") and heads[1:2] in (["a"], ["an"])
    is_each = heads[0] in ("every", "each", "any", "no") and any(map(words.is_person, heads[1:3]))
    return (is_case or is_each) and not named


def owns_somebody(tokens: Sequence[Token], at: int) -> bool:
    """Return whether the text begins with a person who belongs to this one: "my neighbor's teacher"."""
    near = [token.word for token in tokens[at + 1 : at + 4]]
    owns = tokens[at].ending == "s"
    return owns and any(map(words.is_surely_person, near)) and not any(word in words.NOUNS for word in near)


def is_object_of(tokens: Sequence[Token], at: int, people: set[str]) -> bool:
    """Return whether a pronoun is the object of what the main character does: "Ines watched him"."""
    verb = tokens[at - 1].word if at else ""
    mains = [position for position, token in enumerate(tokens[:at]) if token.word in people]
    if not (mains and tokens[at].is_object) or verb in words.STOPS or tokens[mains[-1]].owns:
        return False
    return all(token.word.isalpha() and token.word not in words.CLAUSES for token in tokens[mains[-1] + 1 : at])
