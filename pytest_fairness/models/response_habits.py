"""Habits of a simulated model: answers that follow the form of a prompt, and not its content."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from pytest_fairness.core.choices import AnswerOptions

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


def _first_mentioned(options: AnswerOptions, text: str) -> str:
    return (_mentioned(options, text) or options.values)[0]


def _last_mentioned(options: AnswerOptions, text: str) -> str:
    return (_mentioned(options, text) or options.values)[-1]


_OF_OPTIONS: Mapping[str, Callable[[AnswerOptions, str], str]] = MappingProxyType(
    {
        "first": lambda options, _: options.values[0],
        "last": lambda options, _: options.values[-1],
        "first-mentioned": _first_mentioned,
        "last-mentioned": _last_mentioned,
        "longest": lambda options, _: max(options.values, key=lambda value: len(options.texts[value])),
        "shortest": lambda options, _: min(options.values, key=lambda value: len(options.texts[value])),
    }
)
HABITS = (*_OF_OPTIONS, "yes", "no")
"""The first or last option shown; the one mentioned first or last above them; the longest or shortest; yes; no."""
