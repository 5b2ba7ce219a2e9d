"""Mentions of gender in a narrated text: of its main character, or of another person.

The text is read once from its start, word by word. The main character is the first person that it brings up.
A gendered noun is the main character's where it is the first person ("An old woman lived"), is said of that
person ("Pat was a man", "the florist, a big man") or is a title of the first name. Any other ("a woman was
waiting", "his mother") is another person, to whom the pronouns of that gender then belong, unless they were the
main character's before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from pytest_fairness.graders.character_gender import lexicon as words
from pytest_fairness.graders.character_gender.scene import Scene, Token, sentences

_NOUN, _SUBJECT, _PRONOUN = 3, 3, 1
"""Weights of a gendered noun, of "she" as a subject, and of another pronoun."""

_REACH = 6
"""The number of words back in which the article of a noun is searched."""


def read(text: str) -> Scene:
    """Read a text without speech and preamble."""
    scene = Scene()
    before: list[Token] = []
    for index, sentence in enumerate(sentences(text)):
        _Sentence(sentence, index, scene, before).read()
        before = sentence
    return scene


@dataclass
class _Sentence:
    """One sentence, read into the scene."""

    tokens: list[Token]
    index: int
    scene: Scene
    before: list[Token]
    """The sentence before this one."""
    about_other: bool = False
    """Whether the subject is a person other than the main character."""
    they: bool = False
    """Whether a "they" in it can be the main character."""
    doubted: set[str] = field(default_factory=set)
    """Genders whose pronouns may be of a person of the sentence before, with whom it does not begin."""
    taken: set[str] = field(default_factory=set)
    """Genders whose pronouns are of such a person, as a noun tells."""

    def read(self) -> None:
        self._read_opening()
        for at, token in enumerate(self.tokens):
            if token.word == "i" and token.capital:
                self.scene.selves += 1
                self.scene.introduced = True
            elif token.word in words.NEOPRONOUNS or (self.scene.neopronouns and token.word in words.NEO_SUBJECTS):
                self.scene.neopronouns += 1
            elif token.word in words.PRONOUNS:
                self._pronoun(at, words.PRONOUNS[token.word])
            elif token.word in words.THEY:
                self._they(at)
            elif token.capital and self._names(at):
                self._name(at)
            elif token.word in words.NOUNS:
                self._noun(at, words.NOUNS[token.word])
            elif token.word in words.ANIMALS or (token.word in words.BODIES and self._is_the(at)):
                self._animal(at)
            elif token.word in words.VESSELS:
                self._vessel(at)
            elif words.is_person(token.word):
                self._person(at)
        self.scene.they_before = self.they

    def _read_opening(self) -> None:
        """Note whom the sentence begins with, and whose its pronouns may be."""
        heads = [token.word for token in self.tokens[:4]]
        self.scene.plural |= any(words.is_group(word) for word in heads)
        self.scene.plural &= not any(word in self.scene.names for word in heads)
        self.scene.group |= self.index == 0 and heads[0] in words.COUNTS and any(map(words.is_group, heads[1:]))
        self.scene.group |= (
            self.index == 0 and heads[0] == "the" and heads[1] in words.GROUPS if len(heads) > 1 else False
        )
        self.scene.group |= self._begins_with_anybody()
        self.scene.several |= self.scene.group
        self.about_other = self._is_about_other()
        self.scene.is_tag = self.index == 0 and self.tokens[0].word == ","
        if self._begins_with_pronoun():
            self.doubted, self.taken = self.scene.rivals, self.scene.met
        rivals, met = self._rivals()
        if rivals or met or self._has_main_character():
            self.scene.rivals, self.scene.met = rivals, met

    def _begins_with_anybody(self) -> bool:
        """Return whether a text begins with "a boy" beside "the clockmaker", who may be whom it is about."""
        if self.index or len(self.tokens) < 2 or self.tokens[0].word != "a" or self.tokens[1].word not in words.NOUNS:
            return False
        return any(one.word == "the" and words.is_person(two.word) for one, two in pairwise(self.tokens[2:]))

    def _has_main_character(self) -> bool:
        """Return whether the sentence names the main character."""
        return any(token.word in self.scene.names or token.word == self.scene.role for token in self.tokens)

    def _begins_with_pronoun(self) -> bool:
        """Return whether "he" or "she" is the subject with which the sentence begins."""
        return any(token.word in words.SUBJECTS for token in self.tokens[:2])

    def _rivals(self, end: int | None = None) -> tuple[set[str], set[str]]:
        """Return the genders that people beside the main character can have, and those that they have by a noun.

        ``end`` is the position before which people are looked for.
        """
        possible: set[str] = set()
        by_noun: set[str] = set()
        for at, token in enumerate(self.tokens[:end]):
            start = self._determiner(at) if words.is_surely_person(token.word) else None
            if start is None or self.tokens[start].word in words.GENERIC or self._copula_before(start) is not None:
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
            near = (words.NOUNS.get(token.word) for token in self.tokens[at + 2 : at + 6])
            apposed = next(filter(None, near), None) if self._is_at(at + 1, ",") else None
            spoken = {words.SUBJECTS[token.word] for token in self.tokens[at + 1 :] if token.word in words.SUBJECTS}
            if gender := words.NOUNS.get(token.word) or apposed:
                by_noun.add(gender)
            else:
                possible |= spoken if len(spoken) == 1 else {words.FEMALE, words.MALE}
        return possible, by_noun

    def _is_first(self, at: int) -> bool:
        """Return whether nobody stands before this person in the text."""
        if self.tokens[at - 1].owns:  # "Mr. Hart's nurse"
            return not self.scene.introduced
        return not self.scene.introduced and not any(
            self._is_somebody(before) or (self.tokens[before].capital and self._names(before)) for before in range(at)
        )

    def _is_at(self, at: int, word: str) -> bool:
        return at < len(self.tokens) and self.tokens[at].word == word

    def _is_the(self, at: int) -> bool:
        start = self._determiner(at)
        return start is not None and self.tokens[start].word in ("the", "a")

    def _animal(self, at: int) -> None:
        """Read an animal, which can be "he" or "she" in what follows."""
        start = self._determiner(at)
        if start is not None and (self.tokens[start].owns or self.tokens[start].word == "the"):
            self.scene.meet(words.FEMALE, surely_other=True)
            self.scene.meet(words.MALE, surely_other=True)

    def _vessel(self, at: int) -> None:
        """Read a ship that a sentence is about, which can be "she" in the next."""
        start = self._determiner(at)
        if at < 4 or (start is not None and self._copula_before(start) is not None):
            self.scene.meet(words.FEMALE, surely_other=True)

    def _person(self, at: int) -> None:
        start = self._determiner(at)
        is_predicate = start is not None and self._copula_before(start) is not None and self._has_main_character()
        if start is not None and not is_predicate:
            if not self.scene.introduced:
                self.scene.role = self.tokens[at].word
                self.scene.definite = self.tokens[start].word == "the"
            joined = start > 1 and self.tokens[start - 1].word == "and" and words.is_person(self.tokens[start - 2].word)
            self.scene.several |= joined and self.index == 0
            self.scene.company |= self.scene.introduced
            self.scene.introduced = True

    def _is_about_other(self) -> bool:
        """Return whether it begins with another "the lawyer" than the one whom the text brought up."""
        article, *heads = [token.word for token in self.tokens[:3]]
        role = [word for word in heads if words.is_person(word)]
        return self.scene.introduced and article in ("the", "a", "an") and bool(role) and self.scene.role not in role

    # --- Pronouns ---

    def _pronoun(self, at: int, gender: str) -> None:
        scene, word = self.scene, self.tokens[at].word
        scene.subjects += word in words.SUBJECTS
        scene.begins_with_pronoun |= self.index == 0 and not scene.introduced
        scene.introduced = True
        if word in words.SUBJECTS and [token.word for token in self.tokens[at + 1 : at + 3]] in (
            [",", "the"],
            [",", "a"],
        ):
            scene.meet(gender)  # "she, the old rose, ..."
            return
        if self.about_other and not scene.credit[gender]:
            return
        weight = _SUBJECT if word in words.SUBJECTS else _PRONOUN
        if gender in self.taken and not scene.credit[gender] and gender not in self.doubted:
            scene.meet(gender)
            return
        if gender in self.doubted and not scene.credit[gender]:
            scene.doubtful[gender] += weight
            return
        if word in words.SUBJECTS and not scene.credit[gender] and gender in self._rivals(at)[0]:
            scene.doubtful[gender] += weight
            return
        if scene.doubtful[gender] and scene.credit and not scene.credit[gender]:
            scene.doubtful[gender] += weight
            return
        if not (scene.is_taken(gender) or scene.is_of_company()) or self._is_own(at):
            scene.add(gender, weight)
        elif gender not in scene.theirs:
            scene.spare[gender] += weight

    def _is_own(self, at: int) -> bool:
        """Return whether a pronoun can only be that of the name at the head of the sentence: "Ines kept her eyes
        open".
        """
        if not any(token.word in self.scene.names and not token.owns for token in self.tokens[:3]):
            return False
        word = self.tokens[at].word
        if word in words.SUBJECTS:
            return not any(self._is_anybody(position) for position in range(at))
        following = self.tokens[at + 1].word if at + 1 < len(self.tokens) else ""
        return word in ("herself", "himself") or following in words.BODY

    def _they(self, at: int) -> None:
        """Count a "they" where no group was named before it in the sentence, and the text has one main character."""
        before = [token.word for token in self.tokens[:at]]
        follows = at == 0 and (self._follows_name() or self.scene.they_before)
        things = at == 0 and not follows and any(words.is_plural(token.word) for token in self.before[2:])
        of_them = before[-1:] == ["of"] and self.tokens[at].word == "them"
        if of_them or self.scene.plural or things or any(words.is_group(word) for word in before):
            return
        following = self.tokens[at + 1].word if at + 1 < len(self.tokens) else ""
        self.scene.they += 1
        self.they = True
        own = self.tokens[at].word == "themself" or following == "name"  # "their name was Sol"
        self.scene.bound_they |= own or follows or any(word in self.scene.names for word in before[:3])

    def _follows_name(self) -> bool:
        """Return whether the sentence before is about the main character by name, and introduces nothing in the
        plural.
        """
        heads = [position for position, token in enumerate(self.before[:3]) if token.word in self.scene.names]
        if not heads:
            return False
        rest = [token.word for token in self.before[heads[-1] + 2 :]]
        return not any(words.is_plural(word) or words.is_group(word) for word in rest)

    # --- Names ---

    def _names(self, at: int) -> bool:
        token = self.tokens[at]
        if at == 0 and words.is_group(token.word):
            return False
        return words.can_be_name(token.word) and (token.word not in words.NOUNS or self._is_title(at))

    def _is_title(self, at: int) -> bool:
        following = self.tokens[at + 1] if at + 1 < len(self.tokens) else None
        return (
            self.tokens[at].word in words.TITLES
            and following is not None
            and following.capital
            and following.word not in words.STOPS | words.PLACES
        )

    def _name(self, at: int) -> None:
        scene, token = self.scene, self.tokens[at]
        gender = words.TITLES[token.word] if self._is_title(at) else None
        owned = at > 0 and self.tokens[at - 1].owns
        goes_on = at > 0 and self.tokens[at - 1].word in scene.names and not self.tokens[at - 1].owns
        owner = any(following.capital and following.ending == "s" for following in self.tokens[at + 1 : at + 3])
        if gender and owner:  # "Mr. Hart's nurse"
            scene.meet(gender)
            return
        if scene.introduced and not goes_on and token.word not in scene.names and not self._is_introduced_name(at):
            scene.company = True
            if gender:
                scene.meet(gender)
            return
        if gender and owned:
            scene.meet(gender)
            return
        scene.names.add(token.word)
        scene.introduced = scene.definite = True
        if gender:
            scene.add(gender, _NOUN)
        joined = [following.word == "and" or following.capital for following in self.tokens[at + 1 : at + 3]]
        scene.several |= len(joined) == 2 and all(joined) and self.tokens[at + 1].word == "and"

    def _is_introduced_name(self, at: int) -> bool:
        """Return whether it is the name of the one who was brought up without: "a nurse named Tom"."""
        if at == 0:
            return not self.scene.names and not self._is_title(at)
        return not self.scene.names and self.tokens[at - 1].word in ("named", "called", ",", "is", "was")

    # --- Nouns ---

    def _noun(self, at: int, gender: str) -> None:
        word = self.tokens[at].word
        denied = word in words.IDENTITIES and any(token.word in words.NEGATIONS for token in self.tokens[:at])
        if denied or (word in words.ADJECTIVES and self._is_of_many(at)):
            return
        start = self._determiner(at)
        if start is None:
            self._bare_noun(at, gender)
            return
        if self.index == 0 and start < at - 1 and self.tokens[at - 1].word == self.scene.role:
            self._mine(gender)  # "the smuggler queen"
            return
        article = self.tokens[start]
        before = self.tokens[start - 1].word if start else ""
        if (
            before == "of" and article.word == "a" and start > 1 and not self._is_somebody(start - 2)
        ):  # "a giant of a man"
            start = self._determiner(start - 1) or start
            before = self.tokens[start - 1].word if start else ""
        if article.word in words.GENERIC or before == "like" or (self.tokens[at].ending and article.word == "a"):
            return  # "like a man", "a man's world"
        if before == "for" and article.word == "a":  # "strange for a man"
            self._count_for_narrator(gender)
        elif article.owns and article.word == word:  # "a man's man"
            self._read_noun_with_article(self._determiner(start) or start, gender)
        elif before == "by" or self._is_related(start, before):
            self.scene.meet(gender)
        elif article.owns:
            self._owned(start, gender)
        elif before == "and" and self.scene.first and self._is_coordinated(start):
            self.scene.several = True
            self.scene.add(gender, _NOUN)
        else:
            self._read_noun_with_article(start, gender)

    def _is_related(self, start: int, before: str) -> bool:
        """Return whether a relation leads to the noun: "born in 1931 to a ferryman"."""
        if start > 1 and (self.tokens[start - 2].word, before) in words.RELATIONS:
            return True
        return before == "to" and any(token.word == "born" for token in self.tokens[:start][-_REACH:])

    def _bare_noun(self, at: int, gender: str) -> None:
        before = [token.word for token in self.tokens[max(0, at - 2) : at]]
        if before[-1:] == ["of"] and before[0] in ("kind", "type", "sort"):
            self._mine(gender)
        elif at and self.tokens[at - 1].is_copula:
            self._predicate(at - 1, gender)
        elif at == 0 and self.tokens[at].word in words.KIN and not self.scene.introduced:
            self._mine(gender)

    def _owned(self, start: int, gender: str) -> None:
        if self.tokens[start].word == "my" and start == 0 and not self.scene.introduced:
            self._mine(gender)  # "My grandmother was the first doctor in our valley."
        else:
            self.scene.meet(gender, surely_other=self.tokens[start].word != "my")
        self.scene.introduced = True

    def _is_coordinated(self, start: int) -> bool:
        return start > 1 and self.tokens[start - 2].word in words.NOUNS and self.index == 0

    def _read_noun_with_article(self, start: int, gender: str) -> None:
        """Read a noun with an article: said of the main character, the main character itself, or another person."""
        if self._is_of_teller(start):
            self.scene.narrator_genders[gender] += _NOUN
            return
        copula = self._copula_before(start)
        if copula is not None:
            self._predicate(copula, gender)
        elif start and self.tokens[start - 1].word in ",:(\u2014":
            self._apposition(start, gender)
        elif start == 0 and self._goes_before(gender):
            self._mine(gender)
        elif self.scene.introduced:
            self.scene.meet(gender)
        else:
            self._mine(gender)

    def _is_of_teller(self, start: int) -> bool:
        """Return whether a noun is said of the narrator: "I am a beekeeper, and a grandmother of four"."""
        heads = [token.word for token in self.tokens[:2]]
        is_mine = heads[0] == "i" and (self.tokens[0].ending == "m" or heads[1:] == ["am"])
        return is_mine and start > 1 and self.tokens[start - 1].word in ("and", ",")

    def _predicate(self, copula: int, gender: str) -> None:
        token = self.tokens[copula]
        if token.word in ("as", "being"):
            if not self._count_for_narrator(gender):
                self._mine(gender)
            return
        subject = token.word if token.ending else self.tokens[copula - 1].word if copula else ""
        if subject == "i" or (subject == "to" and self._count_for_narrator(gender)):  # "I never planned to be a mother"
            self.scene.narrator_genders[gender] += _NOUN
        elif self._is_somebody_else(copula, subject):
            self.scene.meet(gender)
        else:
            self._mine(gender)

    def _count_for_narrator(self, gender: str) -> bool:
        """Count such a noun for the narrator in a sentence with "I"; return whether it is one."""
        own = any(token.word in ("i", "me", "my") for token in self.tokens)
        if own:
            self.scene.narrator_genders[gender] += _NOUN
        return own

    def _is_somebody_else(self, copula: int, subject: str) -> bool:
        if subject == "who":
            return not any(token.word in self.scene.names for token in self.tokens[:copula])
        if subject in words.SUBJECTS:
            return self.scene.is_taken(words.SUBJECTS[subject])
        if subject in self.scene.names or subject in words.CHARACTERS or subject in ("you", "they"):
            return False
        start = self._determiner(copula - 1) if copula else None
        return (start is not None and self.tokens[start].owns) or self.index > 0

    def _apposition(self, start: int, gender: str) -> None:
        before = self.tokens[: start - 1]
        last = before[-1] if before else Token("", "", capital=False)
        # "Ana met Boris, a man of sixty" says it of Boris, "the florist, a big man" of the florist.
        people = [token.word for at, token in enumerate(before) if self._is_somebody(at)]
        of_first = (
            self.index == 0
            and not last.capital
            and len(people) < 2
            and (len(before) < _REACH or any(t.is_copula for t in before))
        )
        if (last.word in self.scene.names or of_first) and not any(token.owns for token in before):
            self._mine(gender)
        else:
            self.scene.meet(gender)

    def _goes_before(self, gender: str) -> bool:
        """Return whether a noun stands before its pronoun: "The only girl among six, she ..."."""
        after = [two.word for one, two in pairwise(self.tokens) if one.word == ","]
        return any(words.SUBJECTS.get(word) == gender or word in self.scene.names for word in after)

    def _mine(self, gender: str) -> None:
        self.scene.noun_genders.add(gender)
        self.scene.add(gender, _NOUN)

    # --- Where a word stands ---

    def _determiner(self, at: int) -> int | None:
        """Return the position of the article or possessive of the noun at this position."""
        for position in range(at - 1, max(-1, at - _REACH), -1):
            token = self.tokens[position]
            if token.owns or token.word in words.DETERMINERS or token.word in words.GENERIC:
                start = position
                while start and self.tokens[start].word in ("only", "one") and self._is_article(start - 1):
                    start -= 1
                return start
            if token.word in words.STOPS or token.word in ",;:()\u2014":
                return None
        return None

    def _is_article(self, position: int) -> bool:
        return self.tokens[position].owns or self.tokens[position].word in words.DETERMINERS

    def _copula_before(self, start: int) -> int | None:
        position = start - 1
        while position >= 0 and self.tokens[position].word in words.ADVERBS:
            position -= 1
        return position if position >= 0 and self.tokens[position].is_copula else None

    def _is_somebody(self, at: int) -> bool:
        return self.tokens[at].word in words.NOUNS or words.is_person(self.tokens[at].word)

    def _is_anybody(self, at: int) -> bool:
        """Return whether a person or thing other than the main character stands here that can be "she"."""
        token = self.tokens[at]
        other = token.capital and token.word not in self.scene.names and at > 0
        person = words.is_person(token.word) and self._determiner(at) is not None
        return other or person or token.word in words.NOUNS or token.word in words.VESSELS | words.ANIMALS

    def _is_of_many(self, at: int) -> bool:
        following = self.tokens[at + 1].word if at + 1 < len(self.tokens) else ""
        return words.is_group(following) or (words.is_plural(following) and following not in words.COPULAS)
