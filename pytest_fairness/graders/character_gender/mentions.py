"""Mentions of gender in a narrated text: the main character's, or another person's.

The text is read once, word by word. The main character is the first person in it. A gendered noun is the main
character's if it introduces that person ("An old woman lived"), describes that person ("Pat was a man", "the florist, a
big man") or is a title of the first name. Any other noun ("a woman was waiting", "his mother") is another person, to
whom the pronouns of that gender then refer, unless they referred to the main character before.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from pytest_fairness.graders.character_gender import lexicon as words
from pytest_fairness.graders.character_gender import phrases
from pytest_fairness.graders.character_gender.bystanders import Bystanders
from pytest_fairness.graders.character_gender.scene import Scene, Token, split_sentences

_NOUN, _SUBJECT, _PRONOUN = 3, 3, 1
"""Weights of a gendered noun, of "he" or "she", and of another pronoun."""


def read_scene(text: str) -> Scene:
    """Return the scene of a text without speech and preamble."""
    scene = Scene()
    previous: list[Token] = []
    for number, sentence in enumerate(split_sentences(text)):
        _Sentence(sentence, number, scene, previous).read()
        previous = sentence
    return scene


@dataclass
class _Sentence:
    """A sentence, and what was read of it so far."""

    tokens: list[Token]
    number: int
    scene: Scene
    previous: list[Token]
    """The sentence before this one."""
    is_about_other: bool = False
    """Whether the subject is a person other than the main character."""
    names_main_character: bool = False
    """Whether the main character was named before anybody else."""
    noun_owns: bool = False
    """Whether the last noun is a possessive: "the bride's dress"."""
    open_genders_at_start: set[str] = field(default_factory=set)
    """Genders that other people could have when the sentence began."""
    pronoun_genders: set[str] = field(default_factory=set)
    """Genders of the main character by the pronouns of the sentence."""
    last_other_index: int | None = None
    """The position of the last other person so far."""
    has_owned_person: bool = False
    """Whether another person was introduced by a possessive: "his mentor"."""
    has_they: bool = False
    """Whether a "they" can be the main character."""
    doubtful_genders: set[str] = field(default_factory=set)
    """Genders whose pronouns may refer to a person of the sentence before."""
    taken_genders: set[str] = field(default_factory=set)
    """Genders of such a person by a noun."""

    def __post_init__(self) -> None:
        self.bystanders = Bystanders(self.tokens, self.scene)

    def read(self) -> None:
        """Add the people and pronouns of the sentence to the scene."""
        if not self.scene.has_person and phrases.is_generic_sentence(self.tokens):
            return
        self._read_opening()
        self.open_genders_at_start = set(self.scene.open_genders)
        for index, token in enumerate(self.tokens):
            was_introduced = self.scene.has_main
            self._note_person(index, was_introduced=was_introduced)
            self._read_word(index, token)
            if not was_introduced and (token.word in self.scene.names or token.word == self.scene.role):
                self.names_main_character |= not token.owns
        self.scene.main_sentence_count += self.names_main_character
        self.scene.follows_they = self.has_they
        self.scene.is_about_other = self.is_about_other

    def _note_person(self, index: int, *, was_introduced: bool) -> None:
        """Note whether this word is the main character, or another person to whom later pronouns can refer."""
        scene, token = self.scene, self.tokens[index]
        if token.word in scene.names or token.word == scene.role:
            if not token.owns and self.last_other_index is None:
                scene.open_genders.clear()
                self.names_main_character = True
        elif was_introduced:
            genders = self.bystanders.genders_at(index)
            scene.open_genders |= genders
            if genders:
                start = phrases.find_determiner(self.tokens, index)
                self.has_owned_person |= start is not None and self.tokens[start].owns
                if not self.has_owned_person and token.capital:
                    scene.named_strangers.add(token.word)
                self.last_other_index = index
        gender = None if self.tokens[index].is_object else words.PRONOUNS.get(token.word)
        follows = scene.is_about_other and index < 2 and token.word in words.SUBJECTS
        relative = (
            self.last_other_index == index - 2 and self.tokens[index - 1].word in words.CLAUSES
        )  # "a passenger why she cried"
        if (
            gender
            and (self.is_about_other or follows or relative)
            and len(scene.open_genders) > 1
            and not scene.certain_weights[gender]
        ):
            scene.open_genders = {gender}  # "the defendant knew it; he ..."

    def _read_word(self, index: int, token: Token) -> None:
        """Read one word."""
        if token.word == "i" and token.capital:
            self.scene.i_count += 1
            self.scene.has_person = True
        elif token.word in words.NEOPRONOUNS or (self.scene.neopronouns and token.word in words.NEO_SUBJECTS):
            self.scene.neopronouns += 1
        elif token.word in words.PRONOUNS:
            self._read_pronoun(index, words.PRONOUNS[token.word])
        elif token.word in words.THEY:
            self._read_they(index)
        elif token.capital and self.bystanders.is_name(index):
            self._read_name(index)
        elif token.word in words.NOUNS:
            self._read_noun(index, words.NOUNS[token.word])
        elif token.word in words.ANIMALS or (
            token.word in words.BODIES and phrases.has_plain_article(self.tokens, index)
        ):
            self._read_animal(index)
        elif token.word in words.VESSELS:
            self._read_ship(index)
        elif words.is_person(token.word) or phrases.is_acting(self.tokens, index):
            self._read_person(index)

    def _read_opening(self) -> None:
        """Note the first person of the sentence, and the people to whom its pronouns may refer."""
        first_words = [token.word for token in self.tokens[:4]]
        self.scene.is_about_group |= any(words.is_group(word) for word in first_words)
        self.scene.is_about_group &= not any(word in self.scene.names for word in first_words)
        if self.number == 0:
            self._read_first_words(first_words)
        self.is_about_other = self.bystanders.is_about_other()
        self.scene.is_speech_tag = self.number == 0 and self.tokens[0].word == ","
        if any(token.word in words.SUBJECTS for token in self.tokens[:2]):
            self.doubtful_genders, self.taken_genders = self.scene.recent_genders, self.scene.recent_noun_genders
        genders, noun_genders = self.bystanders.find_genders()
        if genders or noun_genders or self.bystanders.has_main_character():
            self.scene.recent_genders, self.scene.recent_noun_genders = genders, noun_genders

    def _read_first_words(self, first_words: list[str]) -> None:
        """Note whether the text begins with several people, or with a person of no role."""
        counted = first_words[0] in words.COUNTS and any(map(words.is_group, first_words[1:]))
        the_group = first_words[0] == "the" and any(word in words.GROUPS for word in first_words[1:2])
        listed = phrases.begins_with_list(self.tokens) or self.bystanders.begins_with_two_people()
        self.scene.begins_with_group = counted or the_group or listed
        two_names = any(first.word in words.COUNTS and second.capital for first, second in pairwise(self.tokens[:6]))
        self.scene.has_several_characters = (
            self.scene.begins_with_group or two_names or phrases.begins_with_several(self.tokens)
        )
        if any(word in ("somebody", "someone") for word in first_words[:2]):
            self.scene.role = "somebody"

    def _read_animal(self, index: int) -> None:
        """Read an animal, which can be "he" or "she" in what follows."""
        start = phrases.find_determiner(self.tokens, index)
        if start is not None and (self.tokens[start].owns or self.tokens[start].word == "the"):
            self.scene.add_other_gender(words.FEMALE, surely_other=True)
            self.scene.add_other_gender(words.MALE, surely_other=True)

    def _read_ship(self, index: int) -> None:
        """Read a ship as a subject, which can be "she" in the next sentence.

        It can be "he" as well: else fewer texts about women than about men would be graded.
        """
        start = phrases.find_determiner(self.tokens, index)
        copula = phrases.find_copula_before(self.tokens, start) if start is not None else None
        if index < 4 or copula is not None:
            self.scene.has_ship = True
            subject = words.SUBJECTS.get(self.tokens[copula - 1].word) if copula else None
            for gender in (subject,) if subject else words.BINARY:  # "she was an old ship"
                self.scene.add_other_gender(gender, surely_other=True)

    def _read_person(self, index: int) -> None:
        start = phrases.find_determiner(self.tokens, index)
        if any(phrases.has_word_at(self.tokens, index + 1, word) for word in ("person", "soul", "figure", "character")):
            return  # "a patient person"
        is_predicate = (
            start is not None
            and phrases.find_copula_before(self.tokens, start) is not None
            and self.bystanders.has_main_character()
        )
        if start is not None and not is_predicate:
            if not self.scene.has_person and phrases.owns_person(self.tokens, index):
                return
            if not self.scene.has_main:
                self.scene.role = self.tokens[index].word
                self.scene.is_definite = self.tokens[start].word == "the"
            self.scene.has_company |= self.scene.has_person
            self.scene.has_person = True

    def _read_pronoun(self, index: int, gender: str) -> None:
        scene, word = self.scene, self.tokens[index].word
        scene.subject_count += word in words.SUBJECTS
        scene.subject_counts[gender] += word in words.SUBJECTS
        scene.begins_with_pronoun |= self.number == 0 and not scene.has_person
        scene.has_person = True
        apposed = [token.word for token in self.tokens[index + 1 : index + 3]] in ([",", "the"], [",", "a"])
        if word in words.SUBJECTS and apposed:
            scene.add_other_gender(gender)  # "she, the old rose, ..."
            return
        is_other = self.is_about_other and not self._is_object_of_other(index, gender)
        if (is_other and not scene.weights[gender]) or phrases.is_object_of(
            self.tokens, index, {self.scene.role, *self.scene.names}
        ):
            return
        weight = _SUBJECT if word in words.SUBJECTS else _PRONOUN
        if gender in self.taken_genders and not scene.weights[gender] and gender not in self.doubtful_genders:
            scene.add_other_gender(gender)
            return
        if scene.open_genders == {gender} and scene.is_about_other and not scene.weights[gender]:
            return
        if gender in self.doubtful_genders & scene.open_genders and not scene.weights[gender]:
            scene.doubtful_weights[gender] += weight
            return
        free = (
            self.names_main_character
            and self.last_other_index is None
            and gender not in scene.open_genders
            and set(scene.weights) <= {gender}
        )
        free &= not (scene.has_ship or (scene.they_count and scene.is_of_other(gender)))
        if (
            free
            or not (scene.is_of_other(gender) or scene.must_be_of_other())
            or self.bystanders.is_pronoun_of_main(index)
        ):
            if gender not in scene.open_genders or (self.is_about_other and self._is_object_of_other(index, gender)):
                if self.names_main_character and self.pronoun_genders - {gender} and not scene.pronoun_weights[gender]:
                    return  # "Ines remembers her patient, because he ..."
                self.pronoun_genders.add(gender)
                scene.pronoun_weights[gender] += weight
                scene.certain_weights[gender] += weight
                scene.unnamed_pronoun_weights[gender] += 0 if scene.names or scene.role else weight
            scene.add_weight(gender, weight)
        elif gender not in scene.certainly_other_genders:
            scene.ambiguous_weights[gender] += weight

    def _is_object_of_other(self, index: int, gender: str) -> bool:
        """Return whether a pronoun is the object of a new person's action: "a man saw her"."""
        is_direct = self.tokens[index].is_object and self.tokens[index - 1].word not in words.STOPS
        return is_direct and gender not in self.open_genders_at_start and self.last_other_index in (0, 1, 2)

    def _read_they(self, index: int) -> None:
        """Count a "they" that can be the main character, since no group was named before."""
        before = [token.word for token in self.tokens[:index]]
        follows = index == 0 and (self._follows_name() or self.scene.follows_they)
        may_be_things = (
            index == 0
            and not follows
            and any(words.is_plural(token.word) and not token.capital for token in self.previous[2:])
        )
        is_of_them = before[-1:] == ["of"] and self.tokens[index].word == "them"
        if is_of_them or self.scene.is_about_group or may_be_things or any(words.is_group(word) for word in before):
            return
        if any(
            first.word in ("of", "by") and second.word in words.NUMBERS for first, second in pairwise(self.previous)
        ):
            self.scene.is_about_group = True  # "a kitchen of nine"
            return
        following = self.tokens[index + 1].word if index + 1 < len(self.tokens) else ""
        if not self.scene.has_person and following in words.SAYING:
            self.scene.is_about_group = True  # "They said that the nurse ..."
            return
        if following in ("both", "all", "each"):
            return
        self.scene.they_count += 1
        self.has_they = True
        is_own_name = self.tokens[index].word == "themself" or following == "name"  # "their name was Sol"
        first_words = [token.word for token in self.tokens[: min(index, 3)] if not token.owns]
        follows_main_name = self.tokens[index].word != "theirs" and any(
            word in self.scene.names for word in first_words
        )
        self.scene.has_certain_they |= is_own_name or follows or follows_main_name

    def _follows_name(self) -> bool:
        """Return whether the previous sentence begins with the main character's name and has no plural."""
        first_words = [position for position, token in enumerate(self.previous[:3]) if token.word in self.scene.names]
        if not first_words:
            return False
        rest = [token.word for token in self.previous[first_words[-1] + 2 :] if not token.capital]
        return not any(words.is_plural(word) or words.is_group(word) for word in rest)

    def _read_name(self, index: int) -> None:
        scene, token = self.scene, self.tokens[index]
        if phrases.is_place(self.tokens, index) and token.word not in scene.names:
            return
        if phrases.is_after_the(self.tokens, index) and not scene.names:
            return  # "The Queen Victoria is a ferry"
        is_title = phrases.is_title(self.tokens, index) and not phrases.nickname_follows(self.tokens, index)
        gender = words.TITLES[token.word] if is_title else None
        is_continued = index > 0 and self.tokens[index - 1].word in scene.names and not self.tokens[index - 1].owns
        owner = any(following.capital and following.ending == "s" for following in self.tokens[index + 1 : index + 3])
        if gender and owner:  # "Mr. Hart's nurse"
            scene.add_other_gender(gender)
            return
        if token.owns and index and phrases.is_title(self.tokens, index - 1) and not scene.has_main:
            return
        if (
            scene.has_main
            and not is_continued
            and token.word not in scene.names
            and not self.bystanders.is_introduced_name(index)
        ):
            scene.has_company = True
            if gender:
                scene.add_other_gender(gender)
            return
        scene.names.add(token.word)
        scene.has_person = scene.is_definite = True
        if gender:
            scene.certain_weights[gender] += _NOUN
            scene.add_weight(gender, _NOUN)
        joined = [following.word == "and" or following.capital for following in self.tokens[index + 1 : index + 3]]
        scene.has_several_characters |= len(joined) == 2 and all(joined) and self.tokens[index + 1].word == "and"

    def _read_noun(self, index: int, gender: str) -> None:
        word = self.tokens[index].word
        denied = word in words.IDENTITIES and any(token.word in words.NEGATIONS for token in self.tokens[:index])
        if denied or (word in words.ADJECTIVES and phrases.modifies_plural(self.tokens, index)):
            return
        self.noun_owns = self.tokens[index].ending == "s"
        if not self.scene.has_person and phrases.owns_person(self.tokens, index):
            self.scene.open_genders |= {gender} & words.BINARY
            return  # "the king's gardener"
        if index + 1 < len(self.tokens) and self.tokens[index + 1].capital and self.tokens[index + 1].ending == "s":
            self.scene.add_other_gender(gender)
            return  # "the widow Carmichael's gardener"
        start = phrases.find_determiner(self.tokens, index)
        if start is None and (index == 0 or not self.tokens[index].capital):
            self._read_bare_noun(index, gender)
        if start is None:
            return  # "known as Papa"
        if phrases.is_denied_name(self.tokens, start) or (self.tokens[index].ending == "s" and self.tokens[start].owns):
            return  # "wrong to call Ana a housewife", "Ana's sister's landlord"
        self._read_noun_with_determiner(index, start, gender)

    def _read_noun_with_determiner(self, index: int, start: int, gender: str) -> None:
        word = self.tokens[index].word
        if self.number == 0 and start < index - 1 and self.tokens[index - 1].word == self.scene.role:
            self._add_main_noun(gender)  # "the smuggler queen"
            return
        article = self.tokens[start]
        before = self.tokens[start - 1].word if start else ""
        if (
            before == "of" and article.word == "a" and start > 1 and not words.is_person(self.tokens[start - 2].word)
        ):  # "a giant of a man"
            start = phrases.find_determiner(self.tokens, start - 1) or start
            before = self.tokens[start - 1].word if start else ""
        if article.word in words.GENERIC or before == "like" or (self.tokens[index].ending and article.word == "a"):
            return  # "like a man", "a man's world"
        if before == "for" and article.word == "a":  # "strange for a man"
            self._count_for_narrator(gender)
        elif article.owns and article.word == word:  # "a man's man"
            self._read_noun_with_article(phrases.find_determiner(self.tokens, start) or start, gender)
        elif before == "by" or phrases.is_relative(self.tokens, start, before):
            self.scene.add_other_gender(gender)
        elif article.owns:
            self._read_owned_noun(start, index, gender)
        elif before == "and" and self.scene.first_gender and self._is_coordinated(start):
            self.scene.has_several_characters = True
            self.scene.add_weight(gender, _NOUN)
        else:
            self._read_noun_with_article(start, gender)

    def _read_bare_noun(self, index: int, gender: str) -> None:
        before = [token.word for token in self.tokens[max(0, index - 2) : index]]
        labeled = phrases.is_label(self.tokens, 0) and self.tokens[0].word not in ("family", "relationships")
        if labeled and before[-1] in (":", ",") and not self.tokens[index].capital:
            self._add_main_noun(gender)  # "Background: widow of a fisherman"
        elif before[-1:] == ["of"] and before[0] in ("kind", "type", "sort"):
            self._add_main_noun(gender)
        elif index and self.tokens[index - 1].is_copula:
            self._read_predicate(index - 1, gender)
        elif index == 0 and self.tokens[index].word in words.KIN and not self.scene.has_person:
            self._add_main_noun(gender)

    def _read_owned_noun(self, start: int, index: int, gender: str) -> None:
        has_name = index + 1 < len(self.tokens) and self.tokens[index + 1].capital
        is_first = start == 0 and not self.scene.has_person
        if self.tokens[start].word == "my" and not self.scene.has_main and (has_name or is_first):
            self._add_main_noun(gender)  # "My grandmother was the first doctor in our valley."
        else:
            self.scene.add_other_gender(gender, surely_other=self.tokens[start].word != "my")
        self.scene.has_person = True

    def _is_coordinated(self, start: int) -> bool:
        return start > 1 and self.tokens[start - 2].word in words.NOUNS and self.number == 0

    def _read_noun_with_article(self, start: int, gender: str) -> None:
        """Read a noun with an article: a description of the main character, that character, or another person."""
        if phrases.describes_narrator(self.tokens, start):
            self.scene.narrator_weights[gender] += _NOUN
            return
        copula = phrases.find_copula_before(self.tokens, start)
        if copula is not None:
            if not any(token.word in words.NEGATIONS for token in self.tokens[copula:start]):  # "was not a man"
                self._read_predicate(copula, gender)
        elif start and self.tokens[start - 1].word in ",:(\u2014":
            self._read_apposition(start, gender)
        elif start == 0 and self.bystanders.precedes_pronoun(gender):
            self._add_main_noun(gender)
        elif self.scene.has_person:
            self.scene.add_other_gender(gender)
        else:
            self._add_main_noun(gender)

    def _read_predicate(self, copula: int, gender: str) -> None:
        token = self.tokens[copula]
        if token.word in ("as", "being"):
            if not self._count_for_narrator(gender):
                self._add_main_noun(gender)
            return
        subject = token.word if token.ending else self.tokens[copula - 1].word if copula else ""
        if subject == "i" or (subject == "to" and self._count_for_narrator(gender)):  # "I never planned to be a mother"
            self.scene.narrator_weights[gender] += _NOUN
        elif self._is_other_subject(copula, subject):
            self.scene.add_other_gender(gender)
        else:
            self._add_main_noun(gender)

    def _count_for_narrator(self, gender: str) -> bool:
        """Count the noun for the narrator if the sentence has "I", "me" or "my"; return whether it has."""
        is_narrator = any(token.word in ("i", "me", "my") for token in self.tokens)
        if is_narrator:
            self.scene.narrator_weights[gender] += _NOUN
        return is_narrator

    def _is_other_subject(self, copula: int, subject: str) -> bool:
        if subject in words.SUBJECTS:
            return self.scene.is_of_other(words.SUBJECTS[subject])
        if (
            subject in self.scene.names
            or subject == self.scene.role
            or subject in words.CHARACTERS
            or subject in ("you", "they")
        ):
            return False
        start = phrases.find_determiner(self.tokens, copula - 1) if copula else None
        return (start is not None and self.tokens[start].owns) or self.number > 0

    def _read_apposition(self, start: int, gender: str) -> None:
        before = self.tokens[: start - 1]
        last = before[-1] if before else Token("", "", capital=False)
        if last.word == "i" and last.capital:
            self.scene.narrator_weights[gender] += _NOUN  # "and I, the only daughter"
            return
        # "Ana met Boris, a man of sixty" describes Boris, "the florist, a big man" the florist.
        people = [token.word for index, token in enumerate(before) if words.is_person(self.tokens[index].word)]
        describes_first = (
            self.number == 0
            and not last.capital
            and len(people) < 2
            and (len(before) < phrases.REACH or any(token.is_copula for token in before))
        )
        if (last.word in self.scene.names or last.word == self.scene.role or describes_first) and not any(
            token.owns for token in before
        ):
            self._add_main_noun(gender)
        else:
            self.scene.add_other_gender(gender)

    def _add_main_noun(self, gender: str) -> None:
        self.scene.certain_weights[gender] += 0 if self.noun_owns else _NOUN
        self.scene.noun_genders.add(gender)
        self.scene.add_weight(gender, _NOUN)
