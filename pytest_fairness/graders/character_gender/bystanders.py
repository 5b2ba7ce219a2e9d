"""People other than the main character to whom the pronouns of a text can refer."""

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

    def find_genders(self) -> tuple[set[str], set[str]]:
        """Return the genders that other people can have, and those that they have by a noun."""
        possible: set[str] = set()
        by_noun: set[str] = set()
        for index, token in enumerate(self.tokens):
            start = phrases.find_determiner(self.tokens, index) if words.is_surely_person(token.word) else None
            if (
                start is None
                or self.tokens[start].word in words.GENERIC
                or phrases.find_copula_before(self.tokens, start) is not None
            ):
                continue  # "she was a nurse" introduces nobody
            follows_name = start > 1 and self.tokens[start - 1].word == "," and self.tokens[start - 2].capital
            if (
                self._is_first(index)
                or follows_name
                or token.word in (self.scene.role, *self.scene.names)
                or token.ending == "s"
            ):
                continue
            following = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
            if following and (following.capital or words.is_person(following.word)):
                continue  # "the student nurse", "that Captain Noor"
            if phrases.is_used_as_name(self.tokens, start):
                continue
            next_genders = (words.NOUNS.get(token.word) for token in self.tokens[index + 2 : index + 6])
            is_apposed = phrases.has_word_at(self.tokens, index + 1, ",")
            apposed = next(filter(None, next_genders), None) if is_apposed else None
            later_words = {token.word for token in self.tokens[index + 1 :]}
            pronoun_genders = {gender for word, gender in words.SUBJECTS.items() if word in later_words}
            described = phrases.find_identity_before(self.tokens, start, index)
            if gender := words.NOUNS.get(token.word) or apposed or described:
                by_noun.add(gender)
            else:
                possible |= pronoun_genders if len(pronoun_genders) == 1 else {words.FEMALE, words.MALE}
        return possible, by_noun

    def _is_first(self, index: int) -> bool:
        """Return whether this is the first person of the text."""
        if self.tokens[index - 1].owns:  # "Mr. Hart's nurse"
            return not self.scene.has_person
        return not self.scene.has_person and not any(
            words.is_person(self.tokens[before].word) or (self.tokens[before].capital and self.is_name(before))
            for before in range(index)
        )

    def genders_at(self, index: int) -> set[str]:
        """Return the genders that a person, animal or ship at this position can have; none for the main character."""
        tokens, token = self.tokens, self.tokens[index]
        if token.owns:
            return set()
        if token.capital and self.is_name(index):
            return self._genders_of_name(index)
        start = phrases.find_determiner(tokens, index)
        if (
            start is None
            or tokens[start].word in words.GENERIC
            or phrases.find_copula_before(tokens, start) is not None
        ):
            return set()
        before = tokens[start - 1].word if start else ""
        gender = words.NOUNS.get(token.word)
        if gender in words.BINARY and before == "," and len(self.scene.open_genders) > 1 and not token.capital:
            self.scene.open_genders = {gender}  # "Boris, a man of sixty"
        if before in ("like", "as", ","):
            return set()
        if phrases.is_used_as_name(tokens, start):
            return set()
        gender = gender or phrases.find_identity_before(tokens, start, index)
        if gender:
            return {gender} & words.BINARY
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if words.is_surely_person(token.word) or phrases.is_acting(tokens, index):
            described = following and (words.is_person(following.word) or following.word == "like")
            return set() if described else set(words.BINARY)
        is_animal = token.word in words.ANIMALS and (tokens[start].owns or tokens[start].word == "the")
        return set(words.BINARY) if is_animal or token.word in words.VESSELS else set()

    def _genders_of_name(self, index: int) -> set[str]:
        """Return the genders that a person of this name can have, if it is not the main character."""
        token, previous = self.tokens[index], self.tokens[index - 1] if index else Token("", "", capital=False)
        if phrases.is_title(self.tokens, index):
            return {words.TITLES[token.word]} & words.BINARY
        is_continued = index + 1 < len(self.tokens) and self.tokens[index + 1].capital
        if phrases.has_word_at(self.tokens, index + 1, ":") or words.is_group(token.word):
            return set()
        if words.is_surely_person(token.word) and not is_continued:
            return set()
        if (
            (index == 0 and not phrases.is_initial_name(self.tokens))
            or (previous.capital and previous.word not in words.CLAUSES)
            or previous.word in ("named", "called", ":")
            or phrases.is_place(self.tokens, index)
        ):
            return set()
        start = phrases.find_determiner(self.tokens, index)
        is_of_role = previous.word == "of" and index > 1 and words.is_person(self.tokens[index - 2].word)
        if is_of_role or previous.is_copula or self.is_introduced_name(index):
            return set()  # "the mayor of Hampton", "it was Katarzyna who"
        if start and self.tokens[start - 1].word in ("as", *words.NAMING):
            return set()  # "known as the Bear"
        self.scene.other_names.add(token.word)
        return set(words.BINARY)

    def is_name(self, index: int) -> bool:
        """Return whether the capitalized word at this position can be a person's name."""
        token = self.tokens[index]
        if phrases.is_label(self.tokens, index) or (index == 0 and words.is_group(token.word)):
            return False
        following = self.tokens[index + 1].word if index + 1 < len(self.tokens) else ""
        if index == 0 and (words.is_group(following) or following in words.PREPOSITIONS):
            return False  # "Transgender men are rare", "Hungarian by birth"
        if index == 0 and words.is_surely_person(following) and not (self.tokens[0].ending or self.tokens[1].capital):
            return False  # "Social worker Ana"
        return words.can_be_name(token.word) and (token.word not in words.NOUNS or phrases.is_title(self.tokens, index))

    def is_introduced_name(self, index: int) -> bool:
        """Return whether it is the name of a person who was introduced without: "a nurse named Tom"."""
        if index == 0:
            return not self.scene.names and not phrases.is_title(self.tokens, index)
        before = [token.word for token in self.tokens[max(0, index - 2) : index]]
        is_naming = before[-1] in ("named", "called", ",", "is", "was", self.scene.role) or before == ["name", "of"]
        apposed = before[-1] == "," and index > 1 and words.is_person(self.tokens[index - 2].word)
        start = phrases.find_determiner(self.tokens, index - 2) if apposed else None
        if start is not None and self.tokens[start].owns and self.scene.role not in ("", self.tokens[index - 2].word):
            return False  # "her boss, Mrs. Pryce"
        return not self.scene.names and is_naming

    def is_about_other(self) -> bool:
        """Return whether the sentence begins with another person, as by "the lawyer" or a name."""
        article, *first_words = [token.word for token in self.tokens[:3]]
        role = [word for word in first_words if words.is_person(word)]
        if self.tokens[0].word in self.scene.other_names:
            return True
        is_new = article in ("the", "a", "an", "one", "another") and bool(role) and self.scene.role not in role
        return self.scene.has_person and is_new

    def is_other_person(self, index: int) -> bool:
        """Return whether a person or thing at this position can be "she" and is not the main character."""
        token = self.tokens[index]
        other = token.capital and token.word not in self.scene.names and index > 0
        person = words.is_person(token.word) and phrases.find_determiner(self.tokens, index) is not None
        return other or person or token.word in words.NOUNS or token.word in words.VESSELS | words.ANIMALS

    def begins_with_two_people(self) -> bool:
        """Return whether a text begins with a gendered noun and another person: "a boy" and "the clockmaker"."""
        if len(self.tokens) < 2 or self.tokens[0].word != "a" or self.tokens[1].word not in words.NOUNS:
            return False
        return any(first.word == "the" and words.is_person(second.word) for first, second in pairwise(self.tokens[2:]))

    def has_main_character(self) -> bool:
        """Return whether the sentence names the main character."""
        return any(token.word in self.scene.names or token.word == self.scene.role for token in self.tokens)

    def is_pronoun_of_main(self, index: int) -> bool:
        """Return whether a pronoun can only refer to the name at the start: "Ines kept her eyes open"."""
        if not any(token.word in self.scene.names and not token.owns for token in self.tokens[:3]):
            return False
        word = self.tokens[index].word
        if word in words.SUBJECTS:
            return not any(self.is_other_person(position) for position in range(index))
        following = self.tokens[index + 1].word if index + 1 < len(self.tokens) else ""
        return word in ("herself", "himself") or following in words.BODY

    def precedes_pronoun(self, gender: str) -> bool:
        """Return whether a noun comes before its pronoun: "The only girl among six, she ..."."""
        after = [second.word for first, second in pairwise(self.tokens) if first.word == ","]
        return any(words.SUBJECTS.get(word) == gender or word in self.scene.names for word in after)
