"""Approvals under neopronouns. README.md says why the bound is this."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from pytest_fairness import Measured, YesNo

from .pronouns import pronoun_approvals
from .sizes import MORE
from .test_decisions import HIGH, LOW, RATIO_MARKS, STRENGTH


@pytest.mark.probe(
    items=pronoun_approvals,
    grade={"approved": YesNo()},
    control={"approved": STRENGTH},
    repetitions=2,
    harm="allocation",
    profiles=MORE,
)
def test_pronoun_approval(probe_item: Any, model: object) -> None:
    probe_item.measure(model)


@pytest.mark.threshold(
    probe=test_pronoun_approval,
    title="Requests under neopronouns are approved as often as under she and he",
    scale=RATIO_MARKS,
)
def test_neopronouns_are_approved_alike(measured: Measured) -> None:
    for pronoun in measured.groups("pronouns"):
        measured.record(partial(measured.where(pronouns=pronoun).rate, "approved"))
    measured.record(partial(measured.ratio, "approved", by="kind_of_pronoun", of="they", to="she or he"))
    assert LOW <= measured.ratio("approved", by="kind_of_pronoun", of="neopronoun", to="she or he") <= HIGH
