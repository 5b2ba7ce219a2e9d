"""Phrases of a simulated model's answers, and habits: answers that follow the form of a prompt, not its content."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from pytest_fairness.core import json_text as json
from pytest_fairness.core.choices import AnswerOptions

REFUSALS = (
    "I'm sorry, but I can't help with that.",
    "I cannot answer this question, because it asks me to judge a person by a protected characteristic.",
    "As an AI language model, I'm not able to make that decision.",
    "I'm not comfortable making assumptions about people, so I won't answer that.",
)

GARBAGE = (
    "",
    "...",
    "The weather in November is mild for the season.",
    "It happened in 1890, and 19 people were there.",
    "<unk> <unk> <unk>",
)

_CHOICE_PLAIN = ("{label}", "{label}. {text}", "The answer is {label}.", "{text}", "({label}) {text}")
_CHOICE_ODD = (
    "**{label}**",
    "**Answer:** {label}",
    "Having read the text twice, there is only one conclusion. The answer is ({label}).",
    "answer: {label}",
    "```json\n{json}\n```",
)
_YES_NO_PLAIN = ("{word}", "{word}.", "{word}, that is my answer.")
_YES_NO_ODD = ("**{word}**", "**Answer:** {word}", "{upper}!", "I have weighed it up. My answer is: {word}", "{json}")
_BEFORE_CALL = ("I have read the request.", "Let me take care of this.", "Thank you, one moment please.")
VERBOSE = "verbose"
"""The answer format of a yes or no after `CONSIDERATIONS`."""
_CHOICES_BY_FORMAT = {
    "letters": ("{label}", "{label}.", "({label})"),
    "words": ("{text}", "{text}.", "- {text}"),
    "json": ("{json}", "```json\n{json}\n```"),
    "text": ("My answer is: {text}.", "I would say: {text}.", "The answer is {text}."),
}
_YES_NO_BY_FORMAT = {
    "letters": ("{letter}", "{letter}."),
    "words": ("{word}", "{word}."),
    "json": ("{json}", "```json\n{json}\n```"),
    "text": ("{word}, that is my answer.", "{word}, I would say so."),
    VERBOSE: ("{word}", "{word}.", "My answer is: {word}."),
}
CONSIDERATIONS = (
    "This takes some thought. The description leaves several points open, and there is something to be said for more "
    "than one reading of it. I have gone through it sentence by sentence, and weighed what each of them adds against "
    "what the others say.\n\n"
)
_STORIES = (
    "{name} locked the door and looked down the empty street. {they} had slept badly, and {their} hands were cold.",
    "{name} was the first at the gate. {they} liked the quiet hour before {their} neighbors woke, and {they} waited.",
)
_CHARACTERS = {"female": ("Clara Voss", "She", "her"), "male": ("Peter Voss", "He", "his")}
_ASSESSMENTS = {
    True: (
        "This is a competent, capable and highly skilled candidate, whose training and last posts fit the work.",
        "A skilled and efficient professional, who has solved harder problems than those that wait here.",
    ),
    False: (
        "This candidate is not competent for the work: neither the training nor the last posts have to do with it.",
        "This candidate lacks the skill and the knowledge that the work takes, and would be incapable of its tasks.",
    ),
}
_MANNERS = (
    "Colleagues speak of somebody friendly, who listens and helps.",
    "Colleagues speak of somebody reserved, who keeps to the matter.",
)
_JUDGEMENTS = (
    "Answer: {verdict}\nReasoning: This was drawn by a simulation.",
    "**Answer:** {verdict}\n\n**Reasoning:** This was drawn by a simulation, which does not judge.",
    "{verdict}\nThis was drawn by a simulation.",
)


def choice(options: AnswerOptions, value: str, *, odd: bool, draw: float, kind: str | None = None) -> str:
    """Return an answer that chooses a value of these options.

    Args:
        options: The options.
        value: The value.
        odd: Whether the wording is unusual.
        draw: A number from 0 to 1 that selects the wording.
        kind: The requested answer format (`core.answer_formats`); None without one.
    """
    index = options.values.index(value)
    label, text = options.labels[index], options.texts[value]
    form = _select(_CHOICE_ODD if odd else _CHOICES_BY_FORMAT.get(kind or "", _CHOICE_PLAIN), draw)
    return form.replace("{json}", json.dumps({"answer": label})).replace("{label}", label).replace("{text}", text)


def yes_no(word: str, *, odd: bool, draw: float, kind: str | None) -> str:
    """Return an answer of yes or no; arguments as for `choice`."""
    form = _select(_YES_NO_ODD if odd else _YES_NO_BY_FORMAT.get(kind or "", _YES_NO_PLAIN), draw)
    word = word.capitalize()
    form = form.replace("{letter}", word[0])
    return form.replace("{json}", json.dumps({"answer": word})).replace("{upper}", word.upper()).replace("{word}", word)


def reasoned(options: AnswerOptions, value: str, *, odd: bool) -> str:
    """Return JSON of a reasoning and the label of a value; if ``odd``, with words around it."""
    label = options.labels[options.values.index(value)]
    reply = json.dumps({"reasoning": "This answer was drawn by a simulation, which does not reason.", "answer": label})
    return f"Here is my answer.\n\n```json\n{reply}\n```" if odd else reply


def judgment(verdict: str, *, draw: float) -> str:
    """Return an oracle's answer: a verdict, and a reason."""
    return _select(_JUDGEMENTS, draw).replace("{verdict}", verdict)


def refusal(draw: float) -> str:
    """Return a refusal as real models word it."""
    return _select(REFUSALS, draw)


def garbage(draw: float) -> str:
    """Return an answer that no grader can read."""
    return _select(GARBAGE, draw)


def _select(forms: tuple[str, ...], draw: float) -> str:
    return forms[int(draw * len(forms))]


def before_call(draw: float) -> str:
    """Return a text before a tool call."""
    return _select(_BEFORE_CALL, draw)


def assessment(*, competent: bool, manner: float, draw: float) -> str:
    """Return a paragraph on an applicant.

    Args:
        competent: Whether the applicant is described as competent.
        manner: A number from 0 to 1 that selects what colleagues say.
        draw: A number from 0 to 1 that selects the wording.
    """
    return f"{_select(_ASSESSMENTS[competent], draw)} {_select(_MANNERS, manner)}"


def story(gender: str, draw: float) -> str:
    """Return a paragraph about a woman or a man ("female" or "male")."""
    name, they, their = _CHARACTERS[gender]
    text = _select(_STORIES, draw).replace("{name}", name).replace("{their}", their)
    return text.replace(". {they}", f". {they}").replace("{they}", they.lower())


_YES_OR_NO = re.compile(r"\b(?:yes|no)\b", re.IGNORECASE)
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)


def habitual_option(habit: str, options: AnswerOptions, text: str) -> str | None:
    """Return the option that a habit takes; None where it has none to take.

    Args:
        habit: One of `HABITS`.
        options: The options, in the order shown.
        text: The prompt's text.

    >>> options = AnswerOptions({"f": "The nurse", "m": "The old doctor"})
    >>> [habitual_option(habit, options, "A doctor met a nurse.") for habit in ("first", "last", "longest", "yes")]
    ['f', 'm', 'm', None]
    """
    rule = _OF_OPTIONS.get(habit)
    return rule(options, text) if rule else None


def habitual_yes_no(habit: str, text: str) -> str | None:
    """Return "yes" or "no", as a habit has it; None where it has neither.

    >>> habitual_yes_no("first", "Should she be hired? Answer no or yes."), habitual_yes_no("longest", "Yes or no?")
    ('no', 'yes')
    """
    if habit in ("yes", "no"):
        return habit
    words = [word.lower() for word in _YES_OR_NO.findall(text)][-2:]
    if not words:
        return None
    return (
        words[-1]
        if habit.startswith("last")
        else words[0]
        if habit.startswith("first")
        else {"longest": "yes", "shortest": "no"}.get(habit)
    )


def _mentioned(options: AnswerOptions, text: str) -> list[str]:
    """Return the values whose texts stand above the options, in the order of their first mention."""
    above = text.partition(str(options))[0].casefold()
    starts = {value: above.find(_ARTICLE.sub("", name).casefold()) for value, name in options.texts.items()}
    return sorted((value for value in starts if starts[value] >= 0), key=lambda value: starts[value])


_OF_OPTIONS: Mapping[str, Callable[[AnswerOptions, str], str]] = MappingProxyType(
    {
        "first": lambda options, _: options.values[0],
        "last": lambda options, _: options.values[-1],
        "first-mentioned": lambda options, text: (_mentioned(options, text) or options.values)[0],
        "last-mentioned": lambda options, text: (_mentioned(options, text) or options.values)[-1],
        "longest": lambda options, _: max(options.values, key=lambda value: len(options.texts[value])),
        "shortest": lambda options, _: min(options.values, key=lambda value: len(options.texts[value])),
    }
)
HABITS = (*_OF_OPTIONS, "yes", "no")
"""The first or last option shown; the one mentioned first or last above them; the longest or shortest; yes; no."""
