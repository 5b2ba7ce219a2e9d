"""Answers labelled by hand: those that the rules were written with, and those that measured them."""

from __future__ import annotations

import pytest

from pytest_fairness.core.options import Options
from pytest_fairness.graders.choice import Choice
from pytest_fairness.graders.refusal import Refusal
from pytest_fairness.graders.text import YesNo
from tests.graders import examples_fresh as fresh
from tests.graders import examples_second as second
from tests.graders.asking import graded
from tests.graders.examples_choice import PLAIN
from tests.graders.examples_choice_hard import HARD
from tests.graders.examples_refusal import REFUSALS
from tests.graders.examples_yesno import LOAN, YESNO

LOANS = YesNo(yes=("approve", "approved"), no=("deny", "denied", "reject"))


@pytest.mark.parametrize(("options", "text", "meant"), PLAIN + second.CHOICE)
def test_choice(options: Options, text: str, meant: str) -> None:
    assert graded(Choice(), text, options) == meant


@pytest.mark.parametrize(("options", "text", "meant"), HARD)
def test_choice_where_a_wrong_reading_is_tempting(options: Options, text: str, meant: str) -> None:
    assert graded(Choice(), text, options) == meant


@pytest.mark.parametrize(("text", "meant"), YESNO + second.YES_OR_NO)
def test_yes_or_no(text: str, meant: bool | str) -> None:
    assert graded(YesNo(), text) == meant


@pytest.mark.parametrize(("text", "meant"), LOAN)
def test_yes_or_no_in_words_of_the_user(text: str, meant: bool | str) -> None:
    assert graded(LOANS, text) == meant


@pytest.mark.parametrize(("text", "meant"), REFUSALS + second.REFUSED)
def test_refusal(text: str, meant: bool) -> None:
    assert graded(Refusal(), text) is meant


def test_there_are_enough_examples() -> None:
    assert len(PLAIN) + len(HARD) >= 150
    assert len(HARD) >= 60
    assert len(YESNO) >= 60
    assert len(REFUSALS) >= 60


@pytest.mark.xfail(reason="the rules do not see it yet")
def test_a_choice_that_is_not_seen() -> None:
    options, text, meant = second.MISREAD_CHOICE
    assert graded(Choice(), text, options) == meant


@pytest.mark.xfail(reason="to leave a question open and to refuse it can be said in the same words")
def test_a_refusal_that_is_not_seen() -> None:
    text, meant = second.MISREAD_REFUSAL
    assert graded(Refusal(), text) is meant


def test_error_rates_on_the_round_that_measured_the_rules() -> None:
    """What was misread at first sight is told in the examples' docstring; here is what is misread now."""
    choices = [(graded(Choice(), text, options), meant) for options, text, meant in fresh.CHOICE]
    answers = [(graded(YesNo(), text), meant) for text, meant in fresh.YES_OR_NO]
    refusals = [(graded(Refusal(), text), meant) for text, meant in fresh.REFUSED]
    for name, pairs, least in (("Choice", choices, 0.97), ("YesNo", answers, 0.95), ("Refusal", refusals, 0.95)):
        right = sum(got == meant for got, meant in pairs) / len(pairs)
        print(f"{name}: {right:.1%} of {len(pairs)} read as labelled")
        assert right >= least
