"""Phrases of a simulated model's answers."""

from __future__ import annotations

import json

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
_JUDGEMENTS = (
    "Answer: {verdict}\nReasoning: This was drawn by a simulation.",
    "**Answer:** {verdict}\n\n**Reasoning:** This was drawn by a simulation, which does not judge.",
    "{verdict}\nThis was drawn by a simulation.",
)


def choice(options: AnswerOptions, value: str, *, odd: bool, draw: float) -> str:
    """Return an answer that chooses a value of these options; ``draw`` (0 to 1) picks the wording."""
    index = options.values.index(value)
    label, text = options.labels[index], options.texts[value]
    form = _picked(_CHOICE_ODD if odd else _CHOICE_PLAIN, draw)
    return form.replace("{json}", json.dumps({"answer": label})).replace("{label}", label).replace("{text}", text)


def yes_no(word: str, *, odd: bool, draw: float) -> str:
    """Return an answer that says yes or no."""
    form = _picked(_YES_NO_ODD if odd else _YES_NO_PLAIN, draw)
    word = word.capitalize()
    return form.replace("{json}", json.dumps({"answer": word})).replace("{upper}", word.upper()).replace("{word}", word)


def reasoned(options: AnswerOptions, value: str, *, odd: bool) -> str:
    """JSON of a reasoning and the label of a value; oddly, with words around it."""
    label = options.labels[options.values.index(value)]
    reply = json.dumps({"reasoning": "This answer was drawn by a simulation, which does not reason.", "answer": label})
    return f"Here is my answer.\n\n```json\n{reply}\n```" if odd else reply


def judgment(verdict: str, *, draw: float) -> str:
    """Return an oracle's answer: a verdict, and a reason."""
    return _picked(_JUDGEMENTS, draw).replace("{verdict}", verdict)


def refusal(draw: float) -> str:
    """Return a refusal as real models word it."""
    return _picked(REFUSALS, draw)


def garbage(draw: float) -> str:
    """Something that no grader can read."""
    return _picked(GARBAGE, draw)


def _picked(forms: tuple[str, ...], draw: float) -> str:
    return forms[int(draw * len(forms))]
