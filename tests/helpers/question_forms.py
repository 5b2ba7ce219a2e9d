"""Forms of the questions of shipped suites, read from their texts alone, and answers in the form that is asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

YES_NO, CHOICE, NUMBER = "yes or no", "choice", "number"
REASONED, EMOTION, FEATURES = "reasoned", "emotion", "features"
ORACLE_YES_NO, ORACLE_CHOICE = "oracle: yes or no", "oracle: choice"
ASSESSMENT, STORY, ESSAY = "assessment", "story", "essay"
LISTED, ADVICE = "names beside words", "advice"
RANKED = "ranking"
SUMMARY, REFERENCE = "summary of a file", "letter of reference"
OF_OPTIONS = (CHOICE, REASONED, EMOTION, ORACLE_CHOICE)

_WORDS: Mapping[str, tuple[str, str]] = {
    "Ja oder Nein": ("Ja", "Nein"),
    "ja oder nein": ("Ja", "Nein"),
    "sí o no": ("Sí", "No"),
    "oui ou": ("Oui", "Non"),
    "sim ou não": ("Sim", "Não"),
    "ja of nee": ("Ja", "Nee"),
}
"""The words for yes and no, by how they are asked for; else English."""
_LABELED = re.compile(r"^([A-Z]|[A-Z]{4})\. (.+)$", re.MULTILINE)
_BULLETS = re.compile(r"(?:^- .+\n?)+", re.MULTILINE)
_POSSIBLE = re.compile(r"^The possible answers are: (.+)\.$", re.MULTILINE)
_LETTERS = re.compile(r"\b([A-Z]) for (yes|no)\b")
_SCALE = re.compile(r"(?:from|von|[Dd]e) (\d+)\b[^?\n]{0,60}?(?:to|bis|à) (\d+)\b")
_WHOLE_NUMBER = re.compile("whole number|ganzen Zahl|nombre entier")
_LENGTHS: Mapping[str, str] = {
    "two sentences": "short",
    "zwei Sätzen": "short",
    "deux phrases": "short",
    "in detail": "long",
    "ausführlich": "long",
    "en détail": "long",
}
"""Lengths of an answer, by the words that ask for them."""
_LETTER = re.compile(r"\bletter\b|\bLETTER\b|\bBuchstaben\b|\blettre\b")
_NAMES = re.compile(r"^Names: (.+)\nWords: (.+)$", re.MULTILINE)
_RANK = re.compile("^(Rank all|Ordnen Sie (?:alle|die)|Classez les|Rangschik alle) ", re.MULTILINE)
_APPLICANT = re.compile(r"^(?!- )(.+)\n- ", re.MULTILINE)
_MOST_RANKED = 8
"""People in the longest ranking; what stands before them with a list of its own is an advertisement."""
_TAIL = 900
"""Characters at the end of a prompt in which its form stands."""


@dataclass(frozen=True)
class Form:
    """The kind of answer that a question asks for."""

    kind: str
    style: str = ""
    """The answer format: "letters", "words", "json" or "text"; empty where none is asked for."""
    labels: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    """The texts of the options, as they are shown."""
    words: tuple[str, str] = ("Yes", "No")
    begins_with_yes: bool = True
    """Whether the word for yes is shown before that for no."""
    low: int = 1
    high: int = 10

    def yes_no(self, *, yes: bool) -> str:
        """Return an answer of yes or no."""
        word = self.words[not yes]
        if self.style == "letters":
            return word[0]
        if self.style == "json":
            return json.dumps({"answer": word.lower()})
        if self.style == "text":
            return f"{word}, that is my answer."
        return f"Answer: {word.lower()}\nReasoning: It fits." if self.kind == ORACLE_YES_NO else f"{word}."

    def option(self, index: int, sure: float = 0.8) -> str:
        """Return the answer that chooses an option.

        Args:
            index: The place of the option, from 0.
            sure: The confidence, where one is asked for.
        """
        label = self.labels[index] if self.labels else ""
        if self.kind == REASONED:
            return json.dumps({"reasoning": "The text leads there.", "answer": label})
        if self.kind == EMOTION:
            return f"{label}, {sure:.0%}, yes"
        if self.kind == ORACLE_CHOICE:
            return f"Answer: {label}\nReasoning: It is the likeliest."
        if self.style == "json":
            return json.dumps({"answer": label})
        if self.style == "text":
            return f"My answer is: {self.options[index]}."
        return label or self.options[index]


def listed(form: Form, names: Sequence[str]) -> str:
    """Return a name beside each word of a list, in their order."""
    return "\n".join(f"{word} - {name}" for word, name in zip(form.options, names, strict=True))


def ranked(names: Sequence[str]) -> str:
    """Return a numbered list of names, the best first."""
    return "\n".join(f"{rank}. {name}" for rank, name in enumerate(names, 1))


def summary(facts: Sequence[str]) -> str:
    """Return a summary that states these facts."""
    return " ".join(["This is the file in short.", *facts, "That is what it says."])


def reference(agentic: int, communal: int, facts: Sequence[str]) -> str:
    """Return a letter of reference with as many agentic words, and communal ones, that states these facts.

    It has each of these words in English and in German; of one language those of the other are no words.
    """
    words = [*["a leader, f\u00fchrungsstark"] * agentic, *["a listener, hilfsbereit"] * communal]
    return " ".join(["To whom it may concern.", *(f"We knew {word}." for word in words), *facts])


def advice(form: Form, share: float) -> str:
    """Return advice in a few words, or in many.

    Args:
        form: The form, whose style is "short" or "long".
        share: The length of it, where 1 is usual.
    """
    return " ".join(["Look at the terms first."] * round((40 if form.style == "long" else 8) * share))


def form_of(text: str) -> Form:
    """Return the form of a question.

    >>> form_of("Shall we?\\n\\nReply with a single letter, N for no or Y for yes, and nothing else.").yes_no(yes=False)
    'N'
    """
    end = text[-_TAIL:]
    return _read(text if _RANK.search(end) else end)


@lru_cache(maxsize=200_000)
def _read(text: str) -> Form:
    if listed := _NAMES.search(text):
        return Form(LISTED, labels=tuple(listed[1].split(", ")), options=tuple(listed[2].split(", ")))
    if _RANK.search(text):
        return Form(RANKED, options=tuple(_APPLICANT.findall(text)[-_MOST_RANKED:]))
    if "Summarize this file" in text or "Zusammenfassung der Akte" in text:
        return Form(SUMMARY)
    if "Write a letter of reference" in text or "Empfehlungsschreiben" in text:
        return Form(REFERENCE)
    if text.startswith('{"sample"'):
        return Form(FEATURES)
    if "Reply in two lines" in text:
        if "Answer: yes or no" in text:
            return Form(ORACLE_YES_NO)
        return _labeled(ORACLE_CHOICE, text)
    if '"reasoning": "..."' in text:
        return _labeled(REASONED, text)
    if "70%, yes" in text:
        return _labeled(EMOTION, text)
    return _choice(text) or _number(text) or _yes_no(text) or _open(text)


def _labeled(kind: str, text: str, style: str = "") -> Form:
    options = _LABELED.findall(text)
    return Form(kind, style, tuple(label for label, _ in options), tuple(option for _, option in options))


def _choice(text: str) -> Form | None:
    instruction = text.rpartition("\n\n")[2]
    if possible := _POSSIBLE.search(text):
        return Form(CHOICE, "text", options=tuple(possible[1].split("; ")))
    is_of_letters = _LETTER.search(instruction) and not _LETTERS.search(instruction)
    if is_of_letters and len(_LABELED.findall(text)) > 1:
        return _labeled(CHOICE, text, "json" if "JSON" in instruction else "letters")
    if "option" in instruction and (blocks := _BULLETS.findall(text)):
        return Form(CHOICE, "words", options=tuple(line[2:] for line in blocks[-1].strip().split("\n")))
    return None


def _number(text: str) -> Form | None:
    scales = _SCALE.findall(text) if _WHOLE_NUMBER.search(text) else []
    return Form(NUMBER, low=int(scales[-1][0]), high=int(scales[-1][1])) if scales else None


def _yes_no(text: str) -> Form | None:
    end = text[-200:]
    words = next((words for question, words in _WORDS.items() if question in end), None)
    if words is not None:
        return Form(YES_NO, words=words)
    if not re.search(r"\byes\b", end) or not re.search(r"\bno\b", end):
        return None
    request = end.rpartition("?")[2]
    first = re.findall(r"\b(yes|no)\b", request)
    style = (
        "letters" if _LETTERS.search(end) else "json" if "JSON" in end else "text" if "sentence" in request else "words"
    )
    return Form(YES_NO, style, begins_with_yes=not first or first[0] == "yes")


def _open(text: str) -> Form:
    style = next((style for words, style in _LENGTHS.items() if words in text[-100:]), "")
    if style:
        return Form(ADVICE, style)
    if "your assessment" in text:
        return Form(ASSESSMENT)
    return Form(STORY if "one character" in text else ESSAY)


_STORIES = {
    True: "Clara Voss locked the door and looked down the street. She had slept badly, and her hands were cold.",
    False: "Peter Voss locked the door and looked down the street. He had slept badly, and his hands were cold.",
}


def story(*, about_woman: bool) -> str:
    """Return the beginning of a story about a woman or a man."""
    return _STORIES[about_woman]
