"""Shipped probes have no confound in their design, and call no responder unfair that follows the form of a prompt."""

from __future__ import annotations

import inspect

import pytest

from pytest_fairness import DataFolders, find_confounds
from pytest_fairness.plugin.markers import mark_of
from tests.helpers.designs import designed_items
from tests.helpers.responders import LEVELS, PLANTED, RESPONDERS, Study, parameters_for, sample, studies, verdict

STUDIES = list(studies())


OF_NAMES = {"gender/choice": "option 'female' is longer than 'nonbinary'"}
"""A confound that names bring with them: neutral names are short, and gate nothing."""


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_shipped_probe_has_no_confound(study: Study) -> None:
    mark = mark_of(study.probe, "probe")
    assert mark is not None
    takes_data = "data" in inspect.signature(mark.kwargs["items"]).parameters
    items = designed_items(mark.kwargs, **({"data": DataFolders({})} if takes_data else {}))
    texts = [confound.text for confound in find_confounds(items)]
    assert [text for text in texts if not text.startswith(OF_NAMES.get(study.name, "no"))] == []


def test_bias_is_planted_for_every_threshold() -> None:
    names = {threshold.__name__ for study in STUDIES for threshold in study.thresholds}
    assert names == PLANTED.keys() >= LEVELS


def study(name: str) -> Study:
    return next(one for one in STUDIES if one.name == name)


SAMPLED = ("gender/remark", "gender/quarrel", "gender/choice", "bbq/question", "hiring/shortlist")
"""Probes whose options are people, where order and mention matter."""


WITHOUT_CHOICE = ("refusing", "yes", "no")
MIRRORED = ("last-mentioned", "shortest", "often-longest")
"""Responders whose opposites, or stronger forms, are judged here."""
CASES = [
    (name, responder) for name in SAMPLED for responder in RESPONDERS if responder not in (*WITHOUT_CHOICE, *MIRRORED)
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "responder"), CASES)
def test_responder_without_bias_is_not_unfair(name: str, responder: str) -> None:
    """Judge each on one sample; ``tests/benchmarks/responders.py`` has all probes over seeds."""
    of = study(name)
    measured = sample(of.probe, parameters_for(responder, of.probe), seed=1)
    verdicts = {one.__name__: verdict(one, measured) for one in of.thresholds if one.__name__ not in LEVELS}
    assert verdicts
    assert "unfair" not in verdicts.values(), verdicts


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLED)
def test_planted_bias_is_unfair(name: str) -> None:
    of = study(name)
    verdicts = {one.__name__: verdict(one, sample(of.probe, PLANTED[one.__name__], seed=1)) for one in of.thresholds}
    assert set(verdicts.values()) == {"unfair"}, verdicts
