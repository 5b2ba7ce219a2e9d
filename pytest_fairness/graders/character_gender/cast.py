"""The people of a narrated text, and the pronouns that only its main character can have."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from pytest_fairness.graders.character_gender import lexicon as words
from pytest_fairness.graders.character_gender.tokens import (
    Sentence,
    find_copula_before,
    find_determiner,
    is_place,
    is_title,
    split_sentences,
    word_at,
)

_ALL = words.BINARY


@dataclass
class Person:
    """A person other than the main character, or an animal or ship, which can be "she" or "he" as well."""

    genders: frozenset[str]
    is_owned: bool = False
    """Whether they are introduced by another's: "her partner"."""
    subjects: int = 0
    """The number of sentences that they begin."""
    is_definite: bool = True
    """Whether they have a name or are "the nurse", not "a nurse"."""


@dataclass
class Cast:
    """The people and pronouns of a text."""

    names: set[str] = field(default_factory=set)
    """The words that mean the main character, who is the first person: names, or the noun of "the nurse"."""
    is_named: bool = False
    """Whether one of them is a name."""
    is_doubtful: bool = False
    """Whether the text begins with several people, or with one who belongs to another: "Ana's lawyer"."""
    begins_with_pronoun: bool = False
    """Whether "he" or "she" comes before any person."""
    own_genders: set[str] = field(default_factory=set)
    """Genders of titles, nouns and pronouns that only the main character can have."""
    noun_genders: set[str] = field(default_factory=set)
    """The genders of its titles and nouns."""
    pronouns: Counter[str] = field(default_factory=Counter)
    """The number of pronouns by gender."""
    others: dict[str, Person] = field(default_factory=dict)
    """Other people, by their name or noun."""
    selves: int = 0
    """The number of times that the text has "I", "me" or "my"."""
    they: int = 0
    """The number of times that it has "they", "them" or "their"."""
    has_own_they: bool = False
    """Whether a "they" can only be the main character."""
    has_group: bool = False
    """Whether several people were mentioned: "her pupils"."""
    is_definite: bool = False
    """Whether the main character has a name or is "the nurse", not "a nurse"."""
    neopronouns: int = 0
    """The number of pronouns such as "xe"."""

    @property
    def is_empty(self) -> bool:
        """Whether nobody was mentioned yet."""
        return not (self.names or self.others or self.begins_with_pronoun or self.they)

    @property
    def free_people(self) -> list[Person]:
        """The other people who are nobody's."""
        return [person for person in self.others.values() if not person.is_owned]

    @property
    def rivals(self) -> list[Person]:
        """Those whom a sentence begins with: the text may be about them."""
        return [person for person in self.free_people if person.subjects]

    @property
    def other_genders(self) -> set[str]:
        """Genders that other people can have."""
        return {gender for person in self.others.values() for gender in person.genders}


def read_cast(text: str) -> Cast:
    """Return the cast of a text without speech and the assistant's words."""
    sentences = list(split_sentences(text))
    inner = {token.word for sentence in sentences for token in sentence[1:] if token.capital}
    first_words = Counter(sentence[0].word for sentence in sentences)
    inner |= {word for word, count in first_words.items() if count > 1}
    lower = {token.word for sentence in sentences for token in sentence if not token.capital}
    cast = Cast()
    things = False
    for sentence in sentences:
        reader = _Reader(sentence, cast, inner - lower, lower, things)
        reader.read()
        things = reader.has_things()
    return cast


@dataclass
class _Reader:
    """One sentence, and the people in it so far."""

    tokens: Sentence
    cast: Cast
    inner: set[str]
    """Words that have a capital within sentences, too: names."""
    lower: set[str]
    """Words that are somewhere written without a capital."""
    things: bool
    """Whether the sentence before has a plural, which "they" can mean."""
    has_person: bool = False
    last: Person | None = None
    """The last person that was mentioned; None for the main character."""

    def read(self) -> None:
        """Add the sentence to the cast."""
        self._read_opening()
        colon = next((index for index in (1, 2) if word_at(self.tokens, index) == ":"), None)
        if colon and self.tokens[colon - 1].word in words.LABELS:  # a line of a profile: "Name: Ana"
            self.tokens = self.tokens[colon + 1 :]
        index = 0
        while index < len(self.tokens):
            index = self._read_word(index) + 1

    def has_things(self) -> bool:
        """Return whether "they" in the next sentence can be things of this one."""
        nouns = (after.word for before, after in pairwise(self.tokens) if not (before.capital or after.capital))
        is_about_them = self.things and any(token.word in words.THEY for token in self.tokens)
        return is_about_them or any(map(words.is_plural, nouns))

    def _read_opening(self) -> None:
        """Note a text that begins with several people, or with a speaker: "she said"."""
        cast, first_words = self.cast, [token.word for token in self.tokens[:3]]
        if cast.is_empty:
            has_group = any(word in words.COUNTS or words.is_group(word) for word in first_words)
            cast.is_doubtful |= has_group or any(word in words.INDEFINITE for word in first_words)

    def _read_word(self, index: int) -> int:
        """Read the word at this position, and return the position of the last word that belongs to it."""
        tokens, cast = self.tokens, self.cast
        token = tokens[index]
        word = token.word
        if word in ("i", "me", "my", "myself") and (word != "i" or token.capital):
            cast.selves += 1
        elif word in words.NEOPRONOUNS:
            cast.neopronouns += 1
        elif word in words.PRONOUNS:
            self._read_pronoun(words.PRONOUNS[word])
        elif word in words.THEY:
            self._read_they(index)
        elif token.capital and (is_title(tokens, index) or self._is_role(index) or self._is_name(index)):
            return self._read_named(index)
        elif (words.is_group(word) and not token.ending) or (
            word in words.NUMBERS and word_at(tokens, index - 1) in ("of", "by")
        ):
            cast.has_group = True
        elif (
            words.is_surely_person(word)
            or word in words.ANIMALS | words.VESSELS | words.BODIES
            or (index < 3 and words.is_person(word))
            or self._is_acting(index)
        ):
            self._read_noun(index)
        return index

    def _read_pronoun(self, gender: str) -> None:
        cast = self.cast
        cast.pronouns[gender] += 1
        if self.tokens[0].word == "," and cast.is_empty:
            cast.others[""] = Person(frozenset({gender}))  # "she said", after a line of speech
            return
        if not (cast.names or cast.others):
            cast.begins_with_pronoun = True
        if gender not in cast.other_genders:
            cast.own_genders.add(gender)
        self.has_person = True

    def _read_they(self, index: int) -> None:
        cast = self.cast
        cast.they += 1
        is_own = word_at(self.tokens, index) == "themself" or word_at(self.tokens, index + 1) == "name"
        of_them = word_at(self.tokens, index - 1) == "of"
        can_be_things = of_them or (not self.has_person and self.things)
        self._mention_main()
        cast.has_own_they |= is_own or not (can_be_things or cast.has_group or cast.others or not cast.is_definite)

    def _is_role(self, index: int) -> bool:
        """Return whether the word at this position is the role before a name: "Nurse Bell"."""
        return words.is_person(self.tokens[index].word) and self._is_name(index + 1)

    def _is_name(self, index: int) -> bool:
        """Return whether the word at this position is a person's name."""
        if index >= len(self.tokens) or not self.tokens[index].capital:
            return False
        token = self.tokens[index]
        word = token.word
        if word in self.cast.names:
            return True
        if not words.can_be_name(word) or words.is_group(word) or word_at(self.tokens, index + 1) == ":":
            return False
        if words.is_surely_person(word) or is_place(self.tokens, index):
            return False
        if index:
            return not (self.tokens[index - 1].capital and self.tokens[index - 1].word == "the")
        return word in self.inner or (word not in self.lower and self._is_initial_name())

    def _is_initial_name(self) -> bool:
        """Return whether the first word of the sentence is a name, by the word after it: "Vera was"."""
        if len(self.tokens) < 2:
            return False
        following = self.tokens[1]
        return (
            self.tokens[0].ending == "s"
            or (following.capital and following.word not in words.STOPS)
            or (following.word == "," and word_at(self.tokens, 2) in ("the", "a", "an", "who", "whose"))
            or (following.word == "and" and self.cast.is_empty)
            or (self.cast.is_empty and self._begins_clause(following.word))
        )

    @staticmethod
    def _begins_clause(word: str) -> bool:
        """Return whether this word after a name can be a verb."""
        is_verb = word in words.COPULAS | words.ACTING | words.VERBS
        return is_verb or (word.endswith(("ed", "s")) and not words.is_group(word))

    def _read_named(self, index: int) -> int:
        """Read a name with its title or role, and return its last position: "Mrs. Harrow", "Nurse Bell", "Pat"."""
        tokens, cast = self.tokens, self.cast
        end = index
        while self._is_name(end + 1) and not tokens[end].owns:
            end += 1
        first = tokens[index].word
        gender = words.TITLES.get(first) if is_title(tokens, index) else None
        name = {token.word for token in tokens[index : end + 1]} - words.TITLES.keys()
        name = {word for word in name if not words.is_surely_person(word)} or {tokens[end].word}
        genders = frozenset({gender}) & _ALL if gender else _ALL
        before = word_at(tokens, index - 1)
        is_joined = word_at(tokens, end + 1) in ("and", "&") and (
            self._is_name(end + 2) or words.is_surely_person(word_at(tokens, end + 3))
        )
        if name & cast.names:
            self._mention_main()
        elif self._is_first:
            is_thing = before == "the" and gender is not None  # "the Queen Victoria is a ferry"
            self._set_main(name, gender, is_named=True, is_doubtful=self._owns_person(end) or is_joined or is_thing)
        elif self._introduces(index) and self.last is None and cast.names and not cast.is_named:
            self._set_main(name, gender, is_named=True)
        elif before in ("named", "called") and self.last is not None:
            cast.others[min(name)] = self.last
        else:
            key = next((word for word in sorted(name) if word in cast.others), min(name))
            self._mention_other(key, genders, is_owned=False)
        return end

    @property
    def _is_first(self) -> bool:
        """Whether no person was mentioned yet, but for the speaker of a first line."""
        cast = self.cast
        return not (cast.names or cast.others.keys() - {""} or cast.begins_with_pronoun)

    def _owns_person(self, index: int) -> bool:
        """Return whether the person at this position introduces another: "Ana's lawyer"."""
        following = (word_at(self.tokens, index + 1), word_at(self.tokens, index + 2))
        return self.tokens[index].ending == "s" and any(map(words.is_person, following))

    def _introduces(self, index: int) -> bool:
        """Return whether the name at this position is that of the last person: "a nurse named Tom"."""
        before = word_at(self.tokens, index - 1)
        return before in ("named", "called", "is", "was") or (
            before == "," and words.is_person(word_at(self.tokens, index - 2))
        )

    def _read_noun(self, index: int) -> None:
        """Read a noun for a person, animal or ship."""
        tokens, cast = self.tokens, self.cast
        word = tokens[index].word
        if words.is_person(word_at(tokens, index + 1)) or (word in words.ADJECTIVES and self._modifies_plural(index)):
            return  # "the student nurse", "male nurses"
        start = find_determiner(tokens, index)
        is_kin = word in words.KIN and tokens[index].capital
        if start is None and not is_kin:
            is_kind = word_at(tokens, index - 1) == "of" and word_at(tokens, index - 2) in ("kind", "sort", "type")
            if word in words.NOUNS and index and (tokens[index - 1].is_copula or is_kind):
                self._describe(words.NOUNS[word], index - 1)
            return
        if start is not None and tokens[start].word in words.GENERIC:
            return
        gender = words.NOUNS.get(word) or self._adjective_gender(start, index)
        genders = frozenset({gender}) & _ALL if gender else _ALL
        is_owned = start is not None and tokens[start].owns
        copula = find_copula_before(tokens, start) if start is not None else None
        before = word_at(tokens, start - 1) if start else ""
        if before in ("like", "than"):
            return
        if copula is not None and (self.has_person or cast.names):
            if gender:
                self._describe(gender, copula)
            return
        if word in cast.names and not is_owned:
            self._mention_main()
        elif before == "," and self.has_person and not is_owned and start is not None and self._is_apposition(start):
            if gender:
                self._appose(gender)
        elif self._is_first and words.is_surely_person(word):
            is_joined = word_at(tokens, index + 1) == "and" and index < 3
            is_definite = start is not None and tokens[start].word == "the"
            is_doubtful = self._owns_person(index) or is_joined or is_owned
            self._set_main({word}, gender, is_named=False, is_definite=is_definite, is_doubtful=is_doubtful)
        else:
            is_owned |= word in words.ANIMALS | words.VESSELS
            is_definite = start is None or tokens[start].word not in ("a", "an", "one")
            self._mention_other(word, genders, is_owned=is_owned, is_definite=is_definite)

    def _is_apposition(self, start: int) -> bool:
        """Return whether the article at this position directly follows a person: "Boris, a man of sixty"."""
        last = self.tokens[start - 2]
        return last.capital or words.is_person(last.word)

    def _adjective_gender(self, start: int | None, index: int) -> str | None:
        described = (token.word for token in self.tokens[start or 0 : index] if token.word in words.ADJECTIVES)
        return next((words.NOUNS[word] for word in described), None)

    def _modifies_plural(self, index: int) -> bool:
        following = word_at(self.tokens, index + 1)
        return words.is_group(following) or (words.is_plural(following) and following not in words.COPULAS)

    def _is_acting(self, index: int) -> bool:
        """Return whether a noun with an article is the subject of a verb for people: "the tenor laughed"."""
        word = self.tokens[index].word
        return (
            word.isalpha()
            and word not in words.STOPS
            and word_at(self.tokens, index + 1) in words.ACTING
            and find_determiner(self.tokens, index) is not None
        )

    def _describe(self, gender: str, copula: int) -> None:
        """Read a predicate: "Pat was a man", "as a mother"."""
        if any(token.word in words.NEGATIONS for token in self.tokens[: copula + 2]):
            return
        if self.last is None and (self.has_person or self.cast.is_named):
            self._add_noun(gender)

    def _appose(self, gender: str) -> None:
        """Read an apposition to the last person: "Boris, a man of sixty"."""
        if self.last is None:
            self._add_noun(gender)
        else:
            self.last.genders = frozenset({gender}) & _ALL

    def _add_noun(self, gender: str) -> None:
        """Add a title or noun of the main character."""
        self.cast.noun_genders.add(gender)
        self.cast.own_genders.add(gender)

    def _set_main(
        self,
        name: set[str],
        gender: str | None,
        *,
        is_named: bool,
        is_definite: bool = False,
        is_doubtful: bool = False,
    ) -> None:
        cast = self.cast
        cast.names |= name
        cast.is_named |= is_named
        cast.is_definite |= is_named or is_definite
        cast.is_doubtful |= is_doubtful or cast.they > 0
        if gender:
            self._add_noun(gender)
        self._mention_main()

    def _mention_main(self) -> None:
        self.has_person, self.last = True, None

    def _mention_other(self, key: str, genders: frozenset[str], *, is_owned: bool, is_definite: bool = True) -> None:
        person = self.cast.others.setdefault(key, Person(genders, is_owned))
        person.is_definite &= is_definite
        person.subjects += not self.has_person
        self.has_person, self.last = True, person
