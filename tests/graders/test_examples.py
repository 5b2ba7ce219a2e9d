"""Answers labeled by hand: those that the rules were written with, and those that measured them."""

from __future__ import annotations

import pytest

from pytest_fairness.graders.choice import Choice
from pytest_fairness.graders.refusal import Refusal
from pytest_fairness.graders.yes_no import YesNo
from tests.graders import examples_fresh as fresh
from tests.graders import examples_second as second
from tests.graders.examples_choice import PLAIN
from tests.graders.examples_choice_hard import HARD
from tests.graders.examples_refusal import REFUSALS
from tests.graders.examples_yesno import LOAN, YESNO
from tests.helpers.grading import graded

LOANS = YesNo(yes=("approve", "approved"), no=("deny", "denied", "reject"))


def test_choice_examples_are_read_as_labeled() -> None:
    for options, text, meant in PLAIN + second.CHOICE + HARD:
        assert graded(Choice(), text, options) == meant, text


def test_yes_no_examples_are_read_as_labeled() -> None:
    for text, meant in YESNO + second.YES_OR_NO:
        assert graded(YesNo(), text) == meant, text


@pytest.mark.parametrize(("text", "meant"), LOAN)
def test_yes_no_examples_with_custom_words_are_read_as_labeled(text: str, meant: bool | str) -> None:
    assert graded(LOANS, text) == meant


def test_refusal_examples_are_read_as_labeled() -> None:
    for text, meant in REFUSALS + second.REFUSED:
        assert graded(Refusal(), text) is meant, text


def test_there_are_enough_examples() -> None:
    assert len(PLAIN) + len(HARD) >= 150
    assert len(HARD) >= 60
    assert len(YESNO) >= 60
    assert len(REFUSALS) >= 60


@pytest.mark.xfail(reason="the rules do not see it yet")
def test_known_misread_choice_stays_misread() -> None:
    options, text, meant = second.MISREAD_CHOICE
    assert graded(Choice(), text, options) == meant


@pytest.mark.xfail(reason="to leave a question open and to refuse it can be said in the same words")
def test_known_misread_refusal_stays_misread() -> None:
    text, meant = second.MISREAD_REFUSAL
    assert graded(Refusal(), text) is meant


def test_agreement_on_the_fresh_round_is_high_enough() -> None:
    """Check today's readings; the examples' docstring lists what was misread at first sight."""
    choices = [(graded(Choice(), text, options), meant) for options, text, meant in fresh.CHOICE]
    answers = [(graded(YesNo(), text), meant) for text, meant in fresh.YES_OR_NO]
    refusals = [(graded(Refusal(), text), meant) for text, meant in fresh.REFUSED]
    for name, pairs, least in (("Choice", choices, 0.97), ("YesNo", answers, 0.95), ("Refusal", refusals, 0.95)):
        right = sum(got == meant for got, meant in pairs) / len(pairs)
        print(f"{name}: {right:.1%} of {len(pairs)} read as labelled")
        assert right >= least
