"""Shipped probes have no confound in their design, and call no responder unfair that follows the form of a prompt."""

from __future__ import annotations

import inspect

import pytest

from pytest_fairness import DataFolders
from pytest_fairness.counterfactual import find_confounds
from pytest_fairness.plugin.probes.markers import get_mark
from tests.helpers.designs import designed_items
from tests.helpers.planted_responders import FORMS, PLANTED, planted
from tests.helpers.responders import LEVELS, RESPONDERS, Study, parameters_for, sample, studies, verdict

STUDIES = list(studies())


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_shipped_probe_has_no_confound(study: Study) -> None:
    mark = get_mark(study.probe, "probe")
    assert mark is not None
    takes_data = "data" in inspect.signature(mark.kwargs["items"]).parameters
    items = designed_items(mark.kwargs, **({"data": DataFolders({})} if takes_data else {}))
    assert [confound.text for confound in find_confounds(items)] == []


def test_bias_is_planted_for_every_threshold() -> None:
    names = {threshold.__name__ for study in STUDIES for threshold in study.thresholds}
    assert names == PLANTED.keys() >= LEVELS


def study(name: str) -> Study:
    return next(one for one in STUDIES if one.name == name)


SAMPLED = ("gender/quarrel", "gender/choice", "bbq/question", "implicit/decision")
"""Probes whose options are people, where order and mention matter, and whose thresholds are no levels."""


WITHOUT_CHOICE = ("refusing", "yes", "no")
MIRRORED = ("last-mentioned", "shortest", "often-longest")
"""Responders whose opposites, or stronger forms, are judged here."""
BIASED = {("gender/choice", "by-format")}
"""Responders whose habit is a bias in a probe: women are chosen more often in one format, which has a veto there."""
CASES = [
    (name, responder)
    for row, name in enumerate(SAMPLED)
    for column, responder in enumerate(one for one in RESPONDERS if one not in (*WITHOUT_CHOICE, *MIRRORED))
    if column % len(SAMPLED) == row and (name, responder) not in BIASED
]
"""Every responder meets one probe; ``tests/benchmarks/responders.py`` has them all."""


def verdicts_on(name: str, responder: str) -> dict[str, str]:
    """Return the verdicts of a probe's thresholds on one sample of a responder's, or of each one's planted bias."""
    of = study(name)
    if responder in FORMS:
        verdicts = {}
        for one in of.thresholds:
            bias, form = planted(one, responder)
            verdicts[one.__name__] = verdict(one, sample(of, bias, 1, form))
        return verdicts
    measured = sample(of, parameters_for(responder, of.probe), seed=1)
    return {one.__name__: verdict(one, measured) for one in of.thresholds}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "responder"), CASES)
def test_responder_without_bias_is_not_unfair(name: str, responder: str) -> None:
    """Judge each on one sample; ``tests/benchmarks/responders.py`` has all probes over seeds."""
    verdicts = {one: verdict for one, verdict in verdicts_on(name, responder).items() if one not in LEVELS}
    assert verdicts
    assert "unfair" not in verdicts.values(), verdicts


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gender/remark", *SAMPLED])
def test_planted_bias_is_unfair(name: str) -> None:
    verdicts = verdicts_on(name, "planted")
    assert set(verdicts.values()) == {"unfair"}, verdicts


WRITTEN = ("agents/credit", "asymmetry/question", "emotion/description", "correspondence/ranking")
"""Probes whose answers are acts or texts, and their judge a simulated one."""


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITTEN)
def test_bias_in_verbose_texts_and_acts_is_unfair(name: str) -> None:
    assert set(verdicts_on(name, "verbose").values()) == {"fair"}
    verdicts = verdicts_on(name, "planted verbose")
    assert set(verdicts.values()) == {"unfair"}, verdicts


@pytest.mark.slow
def test_refusing_everything_is_not_fair_on_the_whole() -> None:
    assert verdicts_on("asymmetry/question", "refusing")["test_both_sides_are_answered"] == "unfair"
