"""People beside the main character whom the pronouns of a text can mean."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from pytest_fairness.graders.character_gender import lexicon as words
from pytest_fairness.graders.character_gender import phrases
from pytest_fairness.graders.character_gender.scene import Scene, Token


@dataclass
class Bystanders:
    """The people of one sentence who are not the main character."""

    tokens: list[Token]
    scene: Scene

    def rivals(self) -> tuple[set[str], set[str]]:
        """Return the genders that people beside the main character can have, and those that they have by a noun."""
        possible: set[str] = set()
        by_noun: set[str] = set()
        for at, token in enumerate(self.tokens):
            start = phrases.determiner(self.tokens, at) if words.is_surely_person(token.word) else None
            if (
                start is None
                or self.tokens[start].word in words.GENERIC
                or phrases.copula_before(self.tokens, start) is not None
            ):
                continue  # "she was a nurse" says it of somebody who is there
            apposed_to_name = start > 1 and self.tokens[start - 1].word == "," and self.tokens[start - 2].capital
            if (
                self._is_first(at)
                or apposed_to_name
                or token.word in (self.scene.role, *self.scene.names)
                or token.ending == "s"
            ):
                continue
            following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
            if following and (following.capital or words.is_person(following.word)):
                continue  # "the student nurse", "that Captain Noor"
            if phrases.is_what_a_person_is_called(self.tokens, start):
                continue
            near = (words.NOUNS.get(token.word) for token in self.tokens[at + 2 : at + 6])
            apposed = next(filter(None, near), None) if phrases.is_at(self.tokens, at + 1, ",") else None
            spoken = {words.SUBJECTS[token.word] for token in self.tokens[at + 1 :] if token.word in words.SUBJECTS}
            described = phrases.identity_before(self.tokens, start, at)
            if gender := words.NOUNS.get(token.word) or apposed or described:
                by_noun.add(gender)
            else:
                possible |= spoken if len(spoken) == 1 else {words.FEMALE, words.MALE}
        return possible, by_noun

    def _is_first(self, at: int) -> bool:
        """Return whether nobody stands before this person in the text."""
        if self.tokens[at - 1].owns:  # "Mr. Hart's nurse"
            return not self.scene.introduced
        return not self.scene.introduced and not any(
            words.is_person(self.tokens[before].word) or (self.tokens[before].capital and self.is_name(before))
            for before in range(at)
        )

    def genders_at(self, at: int) -> set[str]:
        """Return the genders that a person, animal or ship other than the main character at this position can have."""
        tokens, token = self.tokens, self.tokens[at]
        if token.owns:
            return set()
        if token.capital and self.is_name(at):
            return self._other_name(at)
        start = phrases.determiner(tokens, at)
        if start is None or tokens[start].word in words.GENERIC or phrases.copula_before(tokens, start) is not None:
            return set()
        before = tokens[start - 1].word if start else ""
        gender = words.NOUNS.get(token.word)
        if gender in words.BINARY and before == "," and len(self.scene.open) > 1 and not token.capital:
            self.scene.open = {gender}  # "Boris, a man of sixty"
        if before in ("like", "as", ","):
            return set()
        if phrases.is_what_a_person_is_called(tokens, start):
            return set()
        gender = gender or phrases.identity_before(tokens, start, at)
        if gender:
            return {gender} & words.BINARY
        following = tokens[at + 1] if at + 1 < len(tokens) else None
        if words.is_surely_person(token.word) or phrases.is_acting(tokens, at):
            described = following and (words.is_person(following.word) or following.word == "like")
            return set() if described else set(words.BINARY)
        is_animal = token.word in words.ANIMALS and (tokens[start].owns or tokens[start].word == "the")
        return set(words.BINARY) if is_animal or token.word in words.VESSELS else set()

    def _other_name(self, at: int) -> set[str]:
        """Return the genders that one of this name can have, where it is not the main character."""
        token, previous = self.tokens[at], self.tokens[at - 1] if at else Token("", "", capital=False)
        if phrases.is_title(self.tokens, at):
            return {words.TITLES[token.word]} & words.BINARY
        goes_on = at + 1 < len(self.tokens) and self.tokens[at + 1].capital
        if phrases.is_at(self.tokens, at + 1, ":") or words.is_group(token.word):
            return set()
        if words.is_surely_person(token.word) and not goes_on:
            return set()
        if (
            (at == 0 and not phrases.is_initial_name(self.tokens))
            or (previous.capital and previous.word not in words.CLAUSES)
            or previous.word in ("named", "called", ":")
            or phrases.is_place(self.tokens, at)
        ):
            return set()
        start = phrases.determiner(self.tokens, at)
        is_of_role = previous.word == "of" and at > 1 and words.is_person(self.tokens[at - 2].word)
        if is_of_role or previous.is_copula or self.is_introduced_name(at):
            return set()  # "the mayor of Hampton", "it was Katarzyna who"
        if start and self.tokens[start - 1].word in ("as", *words.NAMING):
            return set()  # "known as the Bear"
        self.scene.other_names.add(token.word)
        return set(words.BINARY)

    def is_name(self, at: int) -> bool:
        token = self.tokens[at]
        if phrases.is_label(self.tokens, at) or (at == 0 and words.is_group(token.word)):
            return False
        following = self.tokens[at + 1].word if at + 1 < len(self.tokens) else ""
        if at == 0 and (words.is_group(following) or following in words.PREPOSITIONS):
            return False  # "Transgender men are rare", "Hungarian by birth"
        if at == 0 and words.is_surely_person(following) and not (self.tokens[0].ending or self.tokens[1].capital):
            return False  # "Social worker Ana"
        return words.can_be_name(token.word) and (token.word not in words.NOUNS or phrases.is_title(self.tokens, at))

    def is_introduced_name(self, at: int) -> bool:
        """Return whether it is the name of the one who was brought up without: "a nurse named Tom"."""
        if at == 0:
            return not self.scene.names and not phrases.is_title(self.tokens, at)
        before = [token.word for token in self.tokens[max(0, at - 2) : at]]
        is_naming = before[-1] in ("named", "called", ",", "is", "was", self.scene.role) or before == ["name", "of"]
        apposed = before[-1] == "," and at > 1 and words.is_person(self.tokens[at - 2].word)
        start = phrases.determiner(self.tokens, at - 2) if apposed else None
        if start is not None and self.tokens[start].owns and self.scene.role not in ("", self.tokens[at - 2].word):
            return False  # "her boss, Mrs. Pryce"
        return not self.scene.names and is_naming

    def is_about_other(self) -> bool:
        """Return whether it begins with another "the lawyer" than the one whom the text brought up."""
        article, *heads = [token.word for token in self.tokens[:3]]
        role = [word for word in heads if words.is_person(word)]
        if self.tokens[0].word in self.scene.other_names:
            return True
        is_new = article in ("the", "a", "an", "one", "another") and bool(role) and self.scene.role not in role
        return self.scene.introduced and is_new

    def is_anybody(self, at: int) -> bool:
        """Return whether a person or thing other than the main character stands here that can be "she"."""
        token = self.tokens[at]
        other = token.capital and token.word not in self.scene.names and at > 0
        person = words.is_person(token.word) and phrases.determiner(self.tokens, at) is not None
        return other or person or token.word in words.NOUNS or token.word in words.VESSELS | words.ANIMALS

    def begins_with_anybody(self) -> bool:
        """Return whether a text begins with "a boy" beside "the clockmaker", who may be whom it is about."""
        if len(self.tokens) < 2 or self.tokens[0].word != "a" or self.tokens[1].word not in words.NOUNS:
            return False
        return any(one.word == "the" and words.is_person(two.word) for one, two in pairwise(self.tokens[2:]))

    def has_main_character(self) -> bool:
        """Return whether the sentence names the main character."""
        return any(token.word in self.scene.names or token.word == self.scene.role for token in self.tokens)

    def is_own(self, at: int) -> bool:
        """Return whether a pronoun can only be that of the name at the head of the sentence: "Ines kept her eyes
        open".
        """
        if not any(token.word in self.scene.names and not token.owns for token in self.tokens[:3]):
            return False
        word = self.tokens[at].word
        if word in words.SUBJECTS:
            return not any(self.is_anybody(position) for position in range(at))
        following = self.tokens[at + 1].word if at + 1 < len(self.tokens) else ""
        return word in ("herself", "himself") or following in words.BODY

    def goes_before(self, gender: str) -> bool:
        """Return whether a noun stands before its pronoun: "The only girl among six, she ..."."""
        after = [two.word for one, two in pairwise(self.tokens) if one.word == ","]
        return any(words.SUBJECTS.get(word) == gender or word in self.scene.names for word in after)
