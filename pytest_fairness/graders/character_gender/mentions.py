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
from pytest_fairness.graders.character_gender import phrases
from pytest_fairness.graders.character_gender.bystanders import Bystanders
from pytest_fairness.graders.character_gender.scene import Scene, Token, sentences

_NOUN, _SUBJECT, _PRONOUN = 3, 3, 1
"""Weights of a gendered noun, of "she" as a subject, and of another pronoun."""


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
    main_here: bool = False
    """Whether the main character was named in it before anybody else."""
    owner: bool = False
    """Whether the last noun owns what follows: "the bride's dress"."""
    open_before: set[str] = field(default_factory=set)
    """Genders that others could have when it began."""
    bound_here: set[str] = field(default_factory=set)
    """Genders that its pronouns give the main character."""
    other_at: int | None = None
    """The position of the last other person in it so far."""
    owns_other: bool = False
    """Whether another person belongs to one in it: "his mentor"."""
    they: bool = False
    """Whether a "they" in it can be the main character."""
    doubted: set[str] = field(default_factory=set)
    """Genders whose pronouns may be of a person of the sentence before, with whom it does not begin."""
    taken: set[str] = field(default_factory=set)
    """Genders whose pronouns are of such a person, as a noun tells."""

    def __post_init__(self) -> None:
        self.others = Bystanders(self.tokens, self.scene)

    def read(self) -> None:
        if not self.scene.introduced and phrases.is_of_anybody(self.tokens):
            return
        self._read_opening()
        self.open_before = set(self.scene.open)
        for at, token in enumerate(self.tokens):
            was_introduced = self.scene.has_main
            self._note_who_stands_here(at, was_introduced=was_introduced)
            self._word(at, token)
            if not was_introduced and (token.word in self.scene.names or token.word == self.scene.role):
                self.main_here |= not token.owns
        self.scene.headed += self.main_here
        self.scene.they_before = self.they
        self.scene.is_about_other = self.about_other

    def _note_who_stands_here(self, at: int, *, was_introduced: bool) -> None:
        """Note whether this word is the main character, or another whom later pronouns can mean."""
        scene, token = self.scene, self.tokens[at]
        if token.word in scene.names or token.word == scene.role:
            if not token.owns and self.other_at is None:
                scene.open.clear()
                self.main_here = True
        elif was_introduced:
            genders = self.others.genders_at(at)
            scene.open |= genders
            if genders:
                start = phrases.determiner(self.tokens, at)
                self.owns_other |= start is not None and self.tokens[start].owns
                if not self.owns_other and token.capital:
                    scene.named_strangers.add(token.word)
                self.other_at = at
        gender = None if self.tokens[at].is_object else words.PRONOUNS.get(token.word)
        follows = scene.is_about_other and at < 2 and token.word in words.SUBJECTS
        relative = self.other_at == at - 2 and self.tokens[at - 1].word in words.CLAUSES  # "a passenger why she cried"
        if gender and (self.about_other or follows or relative) and len(scene.open) > 1 and not scene.anchored[gender]:
            scene.open = {gender}  # "the defendant knew it; he ..."

    def _word(self, at: int, token: Token) -> None:
        """Read one word."""
        if token.word == "i" and token.capital:
            self.scene.selves += 1
            self.scene.introduced = True
        elif token.word in words.NEOPRONOUNS or (self.scene.neopronouns and token.word in words.NEO_SUBJECTS):
            self.scene.neopronouns += 1
        elif token.word in words.PRONOUNS:
            self._pronoun(at, words.PRONOUNS[token.word])
        elif token.word in words.THEY:
            self._they(at)
        elif token.capital and self.others.is_name(at):
            self._name(at)
        elif token.word in words.NOUNS:
            self._noun(at, words.NOUNS[token.word])
        elif token.word in words.ANIMALS or (token.word in words.BODIES and phrases.is_the(self.tokens, at)):
            self._animal(at)
        elif token.word in words.VESSELS:
            self._vessel(at)
        elif words.is_person(token.word) or phrases.is_acting(self.tokens, at):
            self._person(at)

    def _read_opening(self) -> None:
        """Note whom the sentence begins with, and whose its pronouns may be."""
        heads = [token.word for token in self.tokens[:4]]
        self.scene.plural |= any(words.is_group(word) for word in heads)
        self.scene.plural &= not any(word in self.scene.names for word in heads)
        if self.index == 0:
            self._read_first_words(heads)
        self.about_other = self.others.is_about_other()
        self.scene.is_tag = self.index == 0 and self.tokens[0].word == ","
        if any(token.word in words.SUBJECTS for token in self.tokens[:2]):
            self.doubted, self.taken = self.scene.rivals, self.scene.met
        rivals, met = self.others.rivals()
        if rivals or met or self.others.has_main_character():
            self.scene.rivals, self.scene.met = rivals, met

    def _read_first_words(self, heads: list[str]) -> None:
        """Note whether the text begins with several people, or with one who has neither name nor role."""
        counted = heads[0] in words.COUNTS and any(map(words.is_group, heads[1:]))
        the_group = heads[0] == "the" and any(word in words.GROUPS for word in heads[1:2])
        listed = phrases.begins_with_list(self.tokens) or self.others.begins_with_anybody()
        self.scene.group = counted or the_group or listed
        two_names = any(one.word in words.COUNTS and two.capital for one, two in pairwise(self.tokens[:6]))
        self.scene.several = self.scene.group or two_names or phrases.begins_with_several(self.tokens)
        if any(word in ("somebody", "someone") for word in heads[:2]):
            self.scene.role = "somebody"

    def _animal(self, at: int) -> None:
        """Read an animal, which can be "he" or "she" in what follows."""
        start = phrases.determiner(self.tokens, at)
        if start is not None and (self.tokens[start].owns or self.tokens[start].word == "the"):
            self.scene.meet(words.FEMALE, surely_other=True)
            self.scene.meet(words.MALE, surely_other=True)

    def _vessel(self, at: int) -> None:
        """Read a ship that a sentence is about, which can be "she" in the next.

        It is read as if it could be "he" as well, lest fewer texts about women than about men be read.
        """
        start = phrases.determiner(self.tokens, at)
        copula = phrases.copula_before(self.tokens, start) if start is not None else None
        if at < 4 or copula is not None:
            self.scene.vessel = True
            subject = words.SUBJECTS.get(self.tokens[copula - 1].word) if copula else None
            for gender in (subject,) if subject else words.BINARY:  # "she was an old ship"
                self.scene.meet(gender, surely_other=True)

    def _person(self, at: int) -> None:
        start = phrases.determiner(self.tokens, at)
        if any(phrases.is_at(self.tokens, at + 1, word) for word in ("person", "soul", "figure", "character")):
            return  # "a patient person"
        is_predicate = (
            start is not None
            and phrases.copula_before(self.tokens, start) is not None
            and self.others.has_main_character()
        )
        if start is not None and not is_predicate:
            if not self.scene.introduced and phrases.owns_somebody(self.tokens, at):
                return
            if not self.scene.has_main:
                self.scene.role = self.tokens[at].word
                self.scene.definite = self.tokens[start].word == "the"
            self.scene.company |= self.scene.introduced
            self.scene.introduced = True

    def _pronoun(self, at: int, gender: str) -> None:
        scene, word = self.scene, self.tokens[at].word
        scene.subjects += word in words.SUBJECTS
        scene.subject_counts[gender] += word in words.SUBJECTS
        scene.begins_with_pronoun |= self.index == 0 and not scene.introduced
        scene.introduced = True
        apposed = [token.word for token in self.tokens[at + 1 : at + 3]] in ([",", "the"], [",", "a"])
        if word in words.SUBJECTS and apposed:
            scene.meet(gender)  # "she, the old rose, ..."
            return
        is_other = self.about_other and not self._is_object_of_other(at, gender)
        if (is_other and not scene.credit[gender]) or phrases.is_object_of(
            self.tokens, at, {self.scene.role, *self.scene.names}
        ):
            return
        weight = _SUBJECT if word in words.SUBJECTS else _PRONOUN
        if gender in self.taken and not scene.credit[gender] and gender not in self.doubted:
            scene.meet(gender)
            return
        if scene.open == {gender} and scene.is_about_other and not scene.credit[gender]:
            return
        if gender in self.doubted & scene.open and not scene.credit[gender]:
            scene.doubtful[gender] += weight
            return
        free = self.main_here and self.other_at is None and gender not in scene.open and set(scene.credit) <= {gender}
        free &= not (scene.vessel or (scene.they and scene.is_taken(gender)))
        if free or not (scene.is_taken(gender) or scene.is_of_company()) or self.others.is_own(at):
            if gender not in scene.open or (self.about_other and self._is_object_of_other(at, gender)):
                if self.main_here and self.bound_here - {gender} and not scene.bound[gender]:
                    return  # "Ines remembers her patient, because he ..."
                self.bound_here.add(gender)
                scene.bound[gender] += weight
                scene.anchored[gender] += weight
                scene.early[gender] += 0 if scene.names or scene.role else weight
            scene.add(gender, weight)
        elif gender not in scene.theirs:
            scene.spare[gender] += weight

    def _is_object_of_other(self, at: int, gender: str) -> bool:
        """Return whether a pronoun is the object of what another does, who was not there before: "a man saw her"."""
        is_direct = self.tokens[at].is_object and self.tokens[at - 1].word not in words.STOPS
        return is_direct and gender not in self.open_before and self.other_at in (0, 1, 2)

    def _they(self, at: int) -> None:
        """Count a "they" where no group was named before it in the sentence, and the text has one main character."""
        before = [token.word for token in self.tokens[:at]]
        follows = at == 0 and (self._follows_name() or self.scene.they_before)
        things = (
            at == 0
            and not follows
            and any(words.is_plural(token.word) and not token.capital for token in self.before[2:])
        )
        of_them = before[-1:] == ["of"] and self.tokens[at].word == "them"
        if of_them or self.scene.plural or things or any(words.is_group(word) for word in before):
            return
        if any(one.word in ("of", "by") and two.word in words.NUMBERS for one, two in pairwise(self.before)):
            self.scene.plural = True  # "a kitchen of nine"
            return
        following = self.tokens[at + 1].word if at + 1 < len(self.tokens) else ""
        if not self.scene.introduced and following in words.SAYING:
            self.scene.plural = True  # "They said that the nurse ..."
            return
        if following in ("both", "all", "each"):
            return
        self.scene.they += 1
        self.they = True
        own = self.tokens[at].word == "themself" or following == "name"  # "their name was Sol"
        heads = [token.word for token in self.tokens[: min(at, 3)] if not token.owns]
        named = self.tokens[at].word != "theirs" and any(word in self.scene.names for word in heads)
        self.scene.bound_they |= own or follows or named

    def _follows_name(self) -> bool:
        """Return whether the sentence before is about the main character by name, and introduces nothing in the
        plural.
        """
        heads = [position for position, token in enumerate(self.before[:3]) if token.word in self.scene.names]
        if not heads:
            return False
        rest = [token.word for token in self.before[heads[-1] + 2 :] if not token.capital]
        return not any(words.is_plural(word) or words.is_group(word) for word in rest)

    def _name(self, at: int) -> None:
        scene, token = self.scene, self.tokens[at]
        if phrases.is_place(self.tokens, at) and token.word not in scene.names:
            return
        if phrases.has_article(self.tokens, at) and not scene.names:
            return  # "The Queen Victoria is a ferry"
        is_title = phrases.is_title(self.tokens, at) and not phrases.nickname_follows(self.tokens, at)
        gender = words.TITLES[token.word] if is_title else None
        goes_on = at > 0 and self.tokens[at - 1].word in scene.names and not self.tokens[at - 1].owns
        owner = any(following.capital and following.ending == "s" for following in self.tokens[at + 1 : at + 3])
        if gender and owner:  # "Mr. Hart's nurse"
            scene.meet(gender)
            return
        if token.owns and at and phrases.is_title(self.tokens, at - 1) and not scene.has_main:
            return
        if scene.has_main and not goes_on and token.word not in scene.names and not self.others.is_introduced_name(at):
            scene.company = True
            if gender:
                scene.meet(gender)
            return
        scene.names.add(token.word)
        scene.introduced = scene.definite = True
        if gender:
            scene.anchored[gender] += _NOUN
            scene.add(gender, _NOUN)
        joined = [following.word == "and" or following.capital for following in self.tokens[at + 1 : at + 3]]
        scene.several |= len(joined) == 2 and all(joined) and self.tokens[at + 1].word == "and"

    def _noun(self, at: int, gender: str) -> None:
        word = self.tokens[at].word
        denied = word in words.IDENTITIES and any(token.word in words.NEGATIONS for token in self.tokens[:at])
        if denied or (word in words.ADJECTIVES and phrases.is_of_many(self.tokens, at)):
            return
        self.owner = self.tokens[at].ending == "s"
        if not self.scene.introduced and phrases.owns_somebody(self.tokens, at):
            self.scene.open |= {gender} & words.BINARY
            return  # "the king's gardener"
        if at + 1 < len(self.tokens) and self.tokens[at + 1].capital and self.tokens[at + 1].ending == "s":
            self.scene.meet(gender)
            return  # "the widow Carmichael's gardener"
        start = phrases.determiner(self.tokens, at)
        if start is None and (at == 0 or not self.tokens[at].capital):
            self._bare_noun(at, gender)
        if start is None:
            return  # "known as Papa"
        if phrases.is_denied_name(self.tokens, start) or (self.tokens[at].ending == "s" and self.tokens[start].owns):
            return  # "wrong to call Ana a housewife", "Ana's sister's landlord"
        self._noun_with_determiner(at, start, gender)

    def _noun_with_determiner(self, at: int, start: int, gender: str) -> None:
        word = self.tokens[at].word
        if self.index == 0 and start < at - 1 and self.tokens[at - 1].word == self.scene.role:
            self._mine(gender)  # "the smuggler queen"
            return
        article = self.tokens[start]
        before = self.tokens[start - 1].word if start else ""
        if (
            before == "of" and article.word == "a" and start > 1 and not words.is_person(self.tokens[start - 2].word)
        ):  # "a giant of a man"
            start = phrases.determiner(self.tokens, start - 1) or start
            before = self.tokens[start - 1].word if start else ""
        if article.word in words.GENERIC or before == "like" or (self.tokens[at].ending and article.word == "a"):
            return  # "like a man", "a man's world"
        if before == "for" and article.word == "a":  # "strange for a man"
            self._count_for_narrator(gender)
        elif article.owns and article.word == word:  # "a man's man"
            self._read_noun_with_article(phrases.determiner(self.tokens, start) or start, gender)
        elif before == "by" or phrases.is_related(self.tokens, start, before):
            self.scene.meet(gender)
        elif article.owns:
            self._owned(start, at, gender)
        elif before == "and" and self.scene.first and self._is_coordinated(start):
            self.scene.several = True
            self.scene.add(gender, _NOUN)
        else:
            self._read_noun_with_article(start, gender)

    def _bare_noun(self, at: int, gender: str) -> None:
        before = [token.word for token in self.tokens[max(0, at - 2) : at]]
        labeled = phrases.is_label(self.tokens, 0) and self.tokens[0].word not in ("family", "relationships")
        if labeled and before[-1] in (":", ",") and not self.tokens[at].capital:
            self._mine(gender)  # "Background: widow of a fisherman"
        elif before[-1:] == ["of"] and before[0] in ("kind", "type", "sort"):
            self._mine(gender)
        elif at and self.tokens[at - 1].is_copula:
            self._predicate(at - 1, gender)
        elif at == 0 and self.tokens[at].word in words.KIN and not self.scene.introduced:
            self._mine(gender)

    def _owned(self, start: int, at: int, gender: str) -> None:
        named = at + 1 < len(self.tokens) and self.tokens[at + 1].capital
        begins = start == 0 and not self.scene.introduced
        if self.tokens[start].word == "my" and not self.scene.has_main and (named or begins):
            self._mine(gender)  # "My grandmother was the first doctor in our valley."
        else:
            self.scene.meet(gender, surely_other=self.tokens[start].word != "my")
        self.scene.introduced = True

    def _is_coordinated(self, start: int) -> bool:
        return start > 1 and self.tokens[start - 2].word in words.NOUNS and self.index == 0

    def _read_noun_with_article(self, start: int, gender: str) -> None:
        """Read a noun with an article: said of the main character, the main character itself, or another person."""
        if phrases.is_of_teller(self.tokens, start):
            self.scene.narrator_genders[gender] += _NOUN
            return
        copula = phrases.copula_before(self.tokens, start)
        if copula is not None:
            if not any(token.word in words.NEGATIONS for token in self.tokens[copula:start]):  # "was not a man"
                self._predicate(copula, gender)
        elif start and self.tokens[start - 1].word in ",:(\u2014":
            self._apposition(start, gender)
        elif start == 0 and self.others.goes_before(gender):
            self._mine(gender)
        elif self.scene.introduced:
            self.scene.meet(gender)
        else:
            self._mine(gender)

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
        if subject in words.SUBJECTS:
            return self.scene.is_taken(words.SUBJECTS[subject])
        if (
            subject in self.scene.names
            or subject == self.scene.role
            or subject in words.CHARACTERS
            or subject in ("you", "they")
        ):
            return False
        start = phrases.determiner(self.tokens, copula - 1) if copula else None
        return (start is not None and self.tokens[start].owns) or self.index > 0

    def _apposition(self, start: int, gender: str) -> None:
        before = self.tokens[: start - 1]
        last = before[-1] if before else Token("", "", capital=False)
        if last.word == "i" and last.capital:
            self.scene.narrator_genders[gender] += _NOUN  # "and I, the only daughter"
            return
        # "Ana met Boris, a man of sixty" says it of Boris, "the florist, a big man" of the florist.
        people = [token.word for at, token in enumerate(before) if words.is_person(self.tokens[at].word)]
        of_first = (
            self.index == 0
            and not last.capital
            and len(people) < 2
            and (len(before) < phrases.REACH or any(t.is_copula for t in before))
        )
        if (last.word in self.scene.names or last.word == self.scene.role or of_first) and not any(
            token.owns for token in before
        ):
            self._mine(gender)
        else:
            self.scene.meet(gender)

    def _mine(self, gender: str) -> None:
        self.scene.anchored[gender] += 0 if self.owner else _NOUN
        self.scene.noun_genders.add(gender)
        self.scene.add(gender, _NOUN)
