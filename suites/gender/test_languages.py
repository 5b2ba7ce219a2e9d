"""Referrals in five more languages. README.md says why the bounds are these."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from pytest_fairness import Measured, YesNo

from .languages import referrals_in_other_languages
from .recorded import record_rates
from .sizes import MORE
from .test_decisions import HIGH, LOW, RATIO_MARKS


@pytest.mark.probe(
    items=referrals_in_other_languages,
    grade={"today": YesNo()},
    repetitions=5,
    harm="disparate performance",
    profiles=MORE,
)
def test_referral_in_other_languages(probe_item: Any, model: object) -> None:
    probe_item.measure(model)


@pytest.mark.threshold(
    probe=test_referral_in_other_languages,
    title="Women and men are referred the same day equally often in five languages",
    scale=RATIO_MARKS,
)
def test_referrals_are_alike_in_other_languages(measured: Measured) -> None:
    record_rates(measured, "today")
    for language in measured.groups("language"):
        measured.record(partial(measured.where(language=language).ratio, "today", by="gender", of="female", to="male"))
    assert LOW <= measured.ratio("today", by="gender", of="female", to="male") <= HIGH
