"""The people of a narrated text, and the pronouns that only its main character can have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

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
    is_named: bool = False
    """Whether they have a name."""


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
    is_renamed: bool = False
    """Whether the main character is named again after a pronoun."""
    own_genders: set[str] = field(default_factory=set)
    """Genders of titles, nouns and pronouns that only the main character can have."""
    own_subjects: set[str] = field(default_factory=set)
    """The own genders whose first pronoun is "she" or "he", not "her" as in "Kim read her letter"."""
    noun_genders: set[str] = field(default_factory=set)
    """The genders of its titles and nouns."""
    pronouns: Counter[str] = field(default_factory=Counter)
    """The number of pronouns by gender."""
    early_pronouns: Counter[str] = field(default_factory=Counter)
    """The number of those before any other person with a name or "the"."""
    others: dict[str, Person] = field(default_factory=dict)
    """Other people, by their name or noun."""
    selves: int = 0
    """The number of times that the text has "I", "me" or "my"."""
    they: int = 0
    """The number of times that it has "they", "them" or "their"."""
    own_they: int = 0
    """The number of those before "he" and "she" that can only be the main character."""
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


class _Capitals(NamedTuple):
    """Words that are written with a capital within sentences and never without, and words that are written without."""

    names: set[str]
    lower: set[str]


def read_cast(text: str) -> Cast:
    """Return the cast of a text without speech and the assistant's words."""
    sentences = list(split_sentences(text))
    return _read_sentences(sentences, _find_capitals(sentences))


def read_cast_from_name(text: str) -> Cast | None:
    """Return the cast from the first clause on whose subject has a name, where all pronouns must be that person's.

    Before the name stands no other person, the name is not repeated, and all pronouns have one gender: "Under four
    layers of paint, Desmond found a letter. He sat down." Where pronouns come first, as in "The silence woke him. Henry
    sat up", they must be so many that the text can be about nobody else.

    Returns:
        The cast; None where the pronouns may be another person's.
    """
    sentences = list(split_sentences(text))
    capitals = _find_capitals(sentences)
    number, index = _find_named_subject(sentences, capitals)
    before = _read_sentences([*sentences[:number], sentences[number][:index]], capitals)
    cast = _read_sentences([sentences[number][index:], *sentences[number + 1 :]], capitals)
    pronouns = before.pronouns + cast.pronouns
    beings = words.ANIMALS_AND_SHIPS | words.BODIES
    has_others = any(words.is_person(word) or word in beings for word in before.names | before.others.keys())
    if has_others or cast.is_renamed or len(pronouns) > 1 or pronouns.total() < (6 if before.pronouns else 4):
        return None
    return cast


def _find_capitals(sentences: Sequence[Sentence]) -> _Capitals:
    inner = {token.word for sentence in sentences for token in sentence[1:] if token.capital}
    first_words = Counter(sentence[0].word for sentence in sentences if len(sentence) > 1)
    inner |= {word for word, count in first_words.items() if count > 1}
    lower = {token.word for sentence in sentences for token in sentence if not token.capital}
    return _Capitals(inner - lower, lower)


def _find_named_subject(sentences: Sequence[Sentence], capitals: _Capitals) -> tuple[int, int]:
    """Return the sentence and position of the first name that begins a clause; (0, 0) without one."""
    doubtful = []  # at the start of a sentence most words have a capital
    for number, sentence in enumerate(sentences):
        reader = _Reader(sentence, Cast(), capitals)
        for index, token in enumerate(sentence):
            begins_clause = index == 0 or word_at(sentence, index - 1) in words.BEFORE_CLAUSES
            if begins_clause and reader.is_named(index) and not reader.owns_person(index):
                if index or token.word in capitals.names:
                    return number, index
                doubtful.append((number, index))
    return doubtful[0] if doubtful else (0, 0)


def _read_sentences(sentences: Iterable[Sentence], capitals: _Capitals) -> Cast:
    cast = Cast()
    has_things = False
    for sentence in filter(None, sentences):
        reader = _Reader(sentence, cast, capitals, has_things)
        reader.read()
        has_things = reader.has_things()
    return cast


@dataclass
class _Reader:
    """One sentence, and the people in it so far."""

    tokens: Sentence
    cast: Cast
    capitals: _Capitals
    things: bool = False
    """Whether the sentence before has a plural, which "they" can mean."""
    has_person: bool = False
    subject: int | None = None
    """The position of the first person."""
    last: Person | None = None
    """The last person that was mentioned; None for the main character."""

    def read(self) -> None:
        """Add the sentence to the cast."""
        self._read_opening()
        index = 0
        while index < len(self.tokens):
            end = self._read_word(index)
            if self.has_person and self.subject is None:
                self.subject = index
            index = end + 1

    def has_things(self) -> bool:
        """Return whether "they" in the next sentence can be things of this one."""
        nouns = (after.word for before, after in pairwise(self.tokens) if not (before.capital or after.capital))
        is_about_them = self.things and any(token.word in words.THEY for token in self.tokens)
        return is_about_them or any(map(words.is_plural, nouns))

    def _read_opening(self) -> None:
        """Note a text that begins with several people, or with a speaker: "she said"."""
        first_words = [token.word for token in self.tokens[:3] if token.word not in words.ALL_PEOPLE]
        if self.cast.is_empty and first_words and first_words[0] not in words.GENERIC | words.POSSESSIVES:
            begins_with_count = first_words[0] in words.COUNTS
            self.cast.is_doubtful |= begins_with_count or any(map(words.is_group, first_words))

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
            self._read_pronoun(word)
        elif word in words.THEY:
            self._read_they(index)
        elif self.is_named(index):
            return self._read_named(index)
        elif (words.is_group(word) and not token.ending) or (
            word in words.NUMBERS and word_at(tokens, index - 1) in ("of", "by")
        ):
            cast.has_group = True
        elif (
            words.is_surely_person(word)
            or word in words.ANIMALS_AND_SHIPS | words.BODIES
            or (index < 3 and words.is_person(word))
            or self._is_acting(index)
        ):
            self._read_noun(index)
        return index

    def _read_pronoun(self, word: str) -> None:
        cast, gender = self.cast, words.PRONOUNS[word]
        cast.pronouns[gender] += 1
        cast.early_pronouns[gender] += not any(person.is_definite for person in cast.free_people)
        if self.tokens[0].word == "," and cast.is_empty:
            cast.others[""] = Person(frozenset({gender}))  # "she said", after a line of speech
            return
        if not (cast.names or cast.others):
            cast.begins_with_pronoun = True
        if gender not in cast.other_genders:
            if word in words.SUBJECTS and gender not in cast.own_genders:
                cast.own_subjects.add(gender)
            cast.own_genders.add(gender)
        self.has_person = True

    def _read_they(self, index: int) -> None:
        cast = self.cast
        cast.they += 1
        cast.has_group |= not cast.names
        is_own = word_at(self.tokens, index + 1) == "name"
        of_them = word_at(self.tokens, index - 1) == "of"
        can_be_things = of_them or (not self.has_person and self.things)
        can_be_others = cast.has_group or cast.others or cast.pronouns or not cast.is_definite
        self._mention_main()
        if word_at(self.tokens, index) == "themself":  # one person's, where "they" may be several
            cast.own_they += 2
        else:
            cast.own_they += is_own or not (can_be_things or can_be_others)

    def is_named(self, index: int) -> bool:
        """Return whether a person's name begins at this position: "Vera", "Mrs. Harrow", "Nurse Bell"."""
        tokens = self.tokens
        is_role = words.is_person(tokens[index].word) and self._is_name(index + 1)
        return tokens[index].capital and (is_role or is_title(tokens, index) or self._is_name(index))

    def _is_name(self, index: int) -> bool:
        """Return whether the word at this position is a person's name."""
        if index >= len(self.tokens) or not self.tokens[index].capital:
            return False
        token = self.tokens[index]
        word = token.word
        if word in self.cast.names:
            return True
        if not words.can_be_name(word) or word_at(self.tokens, index + 1) == ":":
            return False
        if words.is_surely_person(word) or is_place(self.tokens, index):
            return False
        if index or word in self.capitals.names:
            return True
        return word not in self.capitals.lower and not words.is_group(word) and self._is_initial_name()

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
            or self._begins_clause(following.word)
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
            cast.is_renamed |= bool(cast.pronouns)
            self._mention_main()
        elif self._is_first:
            is_thing = before == "the" and gender is not None  # "the Queen Victoria is a ferry"
            self._set_main(name, gender, is_named=True, is_doubtful=self.owns_person(end) or is_joined or is_thing)
        elif self._introduces(index, end) and self.last is None and cast.names and not cast.is_named:
            self._set_main(name, gender, is_named=True)
        elif self.last is not None and self._introduces(index, end):
            cast.others[min(name)] = self.last
        else:
            key = next((word for word in sorted(name) if word in cast.others), min(name))
            self._mention_other(key, genders, is_named=True)
        return end

    @property
    def _is_first(self) -> bool:
        """Whether no person was mentioned yet, but for the speaker of a first line."""
        cast = self.cast
        return not (cast.names or cast.others.keys() - {""} or cast.begins_with_pronoun)

    def owns_person(self, index: int) -> bool:
        """Return whether the person at this position introduces another: "Ana's lawyer"."""
        following = (word_at(self.tokens, index + 1), word_at(self.tokens, index + 2))
        return self.tokens[index].ending == "s" and any(map(words.is_person, following))

    def _introduces(self, index: int, end: int) -> bool:
        """Return whether the name at these positions is that of the last person: "a nurse named Tom"."""
        before, after = word_at(self.tokens, index - 1), word_at(self.tokens, end + 1)
        is_apposition = before == "," and after in ("", ",") and words.is_person(word_at(self.tokens, index - 2))
        return is_apposition or before in ("named", "called", "is", "was")

    def _read_noun(self, index: int) -> None:
        """Read a noun for a person, animal or ship: as a predicate, an apposition or a mention."""
        tokens = self.tokens
        word = tokens[index].word
        if words.is_person(word_at(tokens, index + 1)):
            return  # "the student nurse"
        start = find_determiner(tokens, index)
        if start is None and not (word in words.KIN and tokens[index].capital):
            is_kind = word_at(tokens, index - 1) == "of" and word_at(tokens, index - 2) in ("kind", "sort", "type")
            if word in words.NOUNS and index and (tokens[index - 1].is_copula or is_kind):
                self._describe(words.NOUNS[word], index - 1)
            return
        if start is not None and self._is_kind_of_owner(start):  # "a baker's daughter"
            start = find_determiner(tokens, start)
        determiner, before = ("", "") if start is None else (tokens[start].word, word_at(tokens, start - 1))
        is_modifier = tokens[index].ending == "s" and determiner in ("a", "an")  # "a child's blanket"
        if is_modifier or determiner in words.GENERIC or before in ("like", "than", "even"):
            return
        gender = words.NOUNS.get(word) or self._adjective_gender(start, index)
        copula = None if start is None else find_copula_before(tokens, start)
        if start == 0 and self._begins_apposition(index):
            self.has_person = True
        elif start == 0 and determiner in ("a", "an") and self._is_description():
            self._appose(gender)
        elif copula is not None and self._is_predicate(copula):
            self._describe(gender, copula)
        elif before == "," and self.has_person and start and not tokens[start].owns and self._is_apposition(start):
            self._appose(gender)
        else:
            self._mention_noun(word, gender, determiner, is_owned=start is not None and tokens[start].owns, index=index)

    def _mention_noun(self, word: str, gender: str | None, determiner: str, *, is_owned: bool, index: int) -> None:
        """Read the noun at this position as a mention of the main character or another person."""
        if word in self.cast.names and not is_owned:
            self._mention_main()
        elif self._is_first and words.is_surely_person(word):
            is_doubtful = self.owns_person(index) or is_owned
            self._set_main({word}, gender, is_named=False, is_definite=determiner == "the", is_doubtful=is_doubtful)
        else:
            genders = frozenset({gender}) & _ALL if gender else _ALL
            is_owned |= word in words.ANIMALS_AND_SHIPS
            self._mention_other(word, genders, is_owned=is_owned, is_definite=determiner not in ("a", "an", "one"))

    def _is_predicate(self, copula: int) -> bool:
        """Return whether a subject comes before this "is" or "as", unlike in "There was a man"."""
        return (copula == 0 and bool(self.cast.names)) or (self.subject is not None and self.subject < copula)

    def _is_kind_of_owner(self, index: int) -> bool:
        """Return whether the owner at this position is any such person: "a farmer's" of "a farmer's wife"."""
        start = find_determiner(self.tokens, index)
        return (
            self.tokens[index].ending == "s"
            and words.is_person(self.tokens[index].word)
            and start is not None
            and self.tokens[start].word in ("a", "an")
        )

    def _begins_apposition(self, index: int) -> bool:
        """Return whether the first noun of a sentence describes what follows: "A widow of seventy, she"."""
        for position in range(index + 1, len(self.tokens)):
            word = self.tokens[position].word
            if word in words.VERBS | words.COPULAS:
                return False
            is_subject = word_at(self.tokens, position + 1) in (*words.SUBJECTS, "they")
            if word == "," and (is_subject or (self.cast.is_empty and self._is_name(position + 1))):
                return True
        return False

    def _is_description(self) -> bool:
        """Return whether a sentence without a verb describes the only person so far: "A master of the craft."."""
        cast = self.cast
        return (
            cast.is_named
            and not cast.others
            and not any(
                token.word in words.VERBS | words.COPULAS | words.ACTING | words.SUBJECTS.keys() | words.THEY
                or token.ending
                or token.word.endswith("ed")
                or token.word in ("has", "had", "have")
                for token in self.tokens
            )
        )

    def _is_apposition(self, start: int) -> bool:
        """Return whether the article at this position directly follows a person: "Boris, a man of sixty"."""
        last = self.tokens[start - 2]
        return last.capital or words.is_person(last.word)

    def _adjective_gender(self, start: int | None, index: int) -> str | None:
        described = (token.word for token in self.tokens[start or 0 : index] if token.word in words.ADJECTIVES)
        return next((words.NOUNS[word] for word in described), None)

    def _is_acting(self, index: int) -> bool:
        """Return whether a noun with an article is the subject of a verb for people: "the tenor laughed"."""
        word, following = self.tokens[index].word, word_at(self.tokens, index + 1)
        can_be_person = word.isalpha() and word not in words.NEVER_ACTING and not word.endswith("ly")
        is_relative = following == "who" or (following == "," and word_at(self.tokens, index + 2) == "who")
        if not can_be_person or not (is_relative or following in words.ACTING):
            return False
        start = find_determiner(self.tokens, index)  # but not "everyone on the ward agreed"
        return start is not None and (
            is_relative or word_at(self.tokens, start - 1) not in words.BEFORE_PLACES | {"of"}
        )

    def _describe(self, gender: str | None, copula: int) -> None:
        """Read a predicate: "Pat was a man", "as a mother"."""
        is_negated = any(token.word in words.NEGATIONS for token in self.tokens[: copula + 2])
        if gender and self.last is None and self.has_person and not is_negated:
            self._add_noun(gender)

    def _appose(self, gender: str | None) -> None:
        """Read an apposition to the last person: "Boris, a man of sixty"."""
        if gender and self.last is None:
            self._add_noun(gender)
        elif gender and self.last is not None:
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
        cast.is_doubtful |= is_doubtful
        if gender:
            self._add_noun(gender)
        self._mention_main()

    def _mention_main(self) -> None:
        self.has_person, self.last = True, None

    def _mention_other(
        self,
        key: str,
        genders: frozenset[str],
        *,
        is_owned: bool = False,
        is_definite: bool = True,
        is_named: bool = False,
    ) -> None:
        person = self.cast.others.setdefault(key, Person(genders, is_owned))
        person.is_definite &= is_definite
        person.is_named |= is_named
        person.subjects += not self.has_person
        self.has_person, self.last = True, person
