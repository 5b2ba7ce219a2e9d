"""Templates: texts with slots, parsed once and filled in for each variant."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.counterfactual.grammar import Grammar, grammar
from pytest_fairness.counterfactual.linter import begins_with_vowel

_PART = re.compile(r"\{([^{}]*)\}|(\w+|\s+|[^\w\s])")
_ARTICLE = re.compile(r"[Aa]n? ")
_WIDEST = 6
"""The most pieces that a slot takes in, so that its value is not also found among the words around it."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One filling of a template: the words of the varied slots, and the person's gender."""

    words: Mapping[str, str]
    gender: str | None = None


@dataclass(frozen=True, slots=True)
class FilledTemplate:
    """A variant's text, and the value of each slot, as `Prompt.slots` declares it."""

    text: str
    slots: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A word, mark or space of the template; or a slot."""

    raw: str
    slot: str = ""

    @property
    def is_form(self) -> bool:
        return "|" in self.slot

    @property
    def joins(self) -> bool:
        """Return whether it forms one word with a neighboring piece that joins as well."""
        return bool(self.slot) or self.raw[-1].isalnum() or self.raw[-1] == "_"


class SlotTemplate:
    """A text with slots in braces.

    ``{name}``, ``{hobby}``: slots of your own, which are varied. ``{a hobby}`` puts the right article before it
    (English).
    ``{they}``, ``{them}``, ``{their}``, ``{theirs}``, ``{themself}``, ``{title}``, ``{person}``, ``{child}``,
    ``{parent}``, ``{sibling}``, ``{spouse}``: words that follow the gender; for those of German and Spanish see
    `grammar`. ``{is|are}``: the first form after "she" or "he", the second after "they"; in German and Spanish the
    female and the male form, also as an ending: ``candidat{a|o}``. A capital in the slot makes one in the text:
    ``{They}``.

    >>> template = SlotTemplate("{name} says {they} {is|are} {a job}.", {"name", "job"})
    >>> people = [({"name": "Robin", "job": "engineer"}, "nonbinary"), ({"name": "Helen", "job": "nurse"}, "female")]
    >>> robin, helen = template.fill([Variant(*person) for person in people])
    >>> robin.text, helen.text
    ('Robin says they are an engineer.', 'Helen says she is a nurse.')
    >>> SlotTemplate("{Thier} CV", ())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    pytest_fairness.core.errors.FairnessError: the template has no word for {Thier}: did you mean 'their' ...

    Raises:
        FairnessError: A slot is unknown; the message has the nearest known one.
    """

    def __init__(self, text: str, varied: Collection[str], language: str = "en") -> None:
        self.text = text
        self.grammar: Grammar = grammar(language)
        self.varied = tuple(varied)
        reserved = sorted(set(self.varied) & set(self.grammar.slots))
        if reserved:
            raise FairnessError(f"{{{reserved[0]}}} is a word of the grammar: give what is varied another name")
        self._pieces = [_Piece(match[0], match[1] or "") for match in _PART.finditer(text)]
        if "".join(piece.raw for piece in self._pieces) != text or "{}" in text:
            raise FairnessError(f"the template {text!r:.60} has a brace without a slot: write {{name}}")
        for piece in self._pieces:
            if piece.slot:
                self._check(piece)
        used = {_slot_name(piece.slot) for piece in self._pieces if piece.slot}
        for name in self.varied:
            if name not in used and name != "gender":
                raise FairnessError(f"the template has no {{{name}}}, which is varied: write it where it belongs")

    @property
    def needs_gender(self) -> str:
        """The first slot that follows the gender; empty where none does."""
        for piece in self._pieces:
            if piece.is_form or _slot_name(piece.slot) in self.grammar.slots:
                return piece.raw
        return ""

    @property
    def has_words(self) -> bool:
        """Return whether the template has any text besides slots."""
        return any(not piece.slot and not piece.raw.isspace() for piece in self._pieces)

    def _check(self, piece: _Piece) -> None:
        if piece.is_form:
            if piece.slot.count("|") != 1:
                first, second = self.grammar.form_names
                raise FairnessError(f"{piece.raw} has {piece.slot.count('|') + 1} forms: write {{{first}|{second}}}")
            return
        name = _slot_name(piece.slot)
        fillable = {*self.varied, *self.grammar.slots} - {"gender"}
        if name not in fillable:
            raise FairnessError(f"the template has no word for {piece.raw}: {did_you_mean(name, fillable)}")
        if _ARTICLE.match(piece.slot) and self.grammar.language != "en":
            raise FairnessError(f"{piece.raw} asks for an article, which is known in English only: write it as a slot")

    def fill(self, variants: Sequence[Variant]) -> list[FilledTemplate]:
        """Return the text of each variant and its slots, which have the same names in all variants.

        A slot grows to the word that it is part of, and to those after it where its words also stand elsewhere
        in the text. Raises `FairnessError` for a variant without the gender that a slot needs.
        """
        filled_pieces = [[self._fill_piece(piece, variant) for piece in self._pieces] for variant in variants]
        spans = self._spans(filled_pieces)
        return [
            FilledTemplate("".join(pieces), {self._name(span): self._value(span, pieces) for span in spans})
            for pieces in filled_pieces
        ]

    def _fill_piece(self, piece: _Piece, variant: Variant) -> str:
        if not piece.slot:
            return piece.raw
        name = _slot_name(piece.slot)
        follows = piece.is_form or name in self.grammar.slots
        if follows and variant.gender is None:
            raise FairnessError(
                f"{piece.raw} follows the gender, and none is given: vary 'gender', or give each name one"
            )
        if piece.is_form:
            return piece.slot.split("|")[self.grammar.form(variant.gender or "")]
        word = self.grammar.words_of(variant.gender or "")[name] if follows else variant.words[name]
        if _ARTICLE.match(piece.slot):
            word = f"{'an' if word and begins_with_vowel(word) else 'a'} {word}"
        return word[:1].upper() + word[1:] if piece.slot[0].isupper() else word

    def _spans(self, filled_pieces: Sequence[Sequence[str]]) -> list[tuple[int, int]]:
        """Return the first and the last piece of each slot."""
        spans = []
        for index, piece in enumerate(self._pieces):
            if not piece.slot:
                continue
            start = end = index
            while start and self._are_joined(start - 1, start):
                start -= 1
            while end + 1 < len(self._pieces) and self._are_joined(end, end + 1):
                end += 1
            english_word = self.grammar.language == "en" and not piece.is_form and " " not in piece.slot
            if not english_word and _slot_name(piece.slot) not in self.varied:
                end = self._widen(start, end, filled_pieces)
            spans.append((start, end))
        return spans

    def _are_joined(self, first: int, second: int) -> bool:
        one, other = self._pieces[first], self._pieces[second]
        return (bool(one.slot) or bool(other.slot)) and one.joins and other.joins

    def _widen(self, start: int, end: int, filled_pieces: Sequence[Sequence[str]]) -> int:
        outside = [piece.raw.lower() for piece in self._pieces if not piece.slot]
        widest = min(len(self._pieces) - 1, end + _WIDEST)
        while end < widest and any(
            _contains(_tokens("".join(text[start : end + 1])), outside) for text in filled_pieces
        ):
            end += 1
            while end < widest and self._pieces[end].raw.isspace():
                end += 1
        return end

    def _name(self, span: tuple[int, int]) -> str:
        start, end = span
        if start == end:
            slot = self._pieces[start].slot
            return slot if "|" in slot else slot[:1].lower() + slot[1:]
        return "".join(piece.raw for piece in self._pieces[start : end + 1])

    def _value(self, span: tuple[int, int], pieces: Sequence[str]) -> str:
        start, end = span
        value = "".join(pieces[start : end + 1])
        slot = self._pieces[start].slot
        follows = start == end and _slot_name(slot) in self.grammar.slots
        return value[:1].lower() + value[1:] if follows and slot[0].isupper() else value


def _slot_name(slot: str) -> str:
    """Return the slot's name without article and capital."""
    bare = _ARTICLE.sub("", slot)
    return bare[:1].lower() + bare[1:]


def _tokens(text: str) -> list[str]:
    return [match[0].lower() for match in _PART.finditer(text)]


def _contains(words: Sequence[str], text: Sequence[str]) -> bool:
    return any(list(text[start : start + len(words)]) == list(words) for start in range(len(text) - len(words) + 1))
