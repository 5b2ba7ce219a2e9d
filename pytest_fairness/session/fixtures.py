"""The fixtures that tests use; `model`, `grader` and `judge` are meant to be overridden."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.session.baseline import LazyBaseline
from pytest_fairness.session.collection import NO_MODEL
from pytest_fairness.session.measuring import ItemUnderTest, LazyMeasured
from pytest_fairness.session.searching import Flips
from pytest_fairness.session.state import SESSION, FairnessSession, Unbuilt

if TYPE_CHECKING:
    from pytest_fairness.core.protocols import Grader, Model


@pytest.fixture(scope="session")
def fairness_session(pytestconfig: pytest.Config) -> FairnessSession:
    """The fairness run of this process; for the plugin's own fixtures."""
    fairness = pytestconfig.stash[SESSION]
    fairness.use()
    if fairness.fault:
        pytest.fail(fairness.fault, pytrace=False)
    return fairness


@pytest.fixture(scope="session")
def model_name(request: pytest.FixtureRequest, fairness_session: FairnessSession) -> str | None:
    """The name of the model under test: each of the run's in probes and thresholds, elsewhere the first."""
    first = fairness_session.model_names()[0]
    name: str | None = request.param if hasattr(request, "param") else (str(first) if first else None)
    return name


@pytest.fixture(scope="session")
def model(model_name: str | None, fairness_session: FairnessSession) -> Model:
    """The model under test. Override it (session scope) with any callable from text to text."""
    if model_name is None:
        pytest.fail(NO_MODEL, pytrace=False)
    try:
        return fairness_session.named_model(model_name)
    except FairnessError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def judge(fairness_session: FairnessSession) -> Model:
    """The model that judges answers, for graders that ask one. There is no default."""
    name = fairness_session.settings.judge
    if name is None:
        pytest.fail(
            "no judge is named: give --fairness-judge provider:name, or override the `judge` fixture", pytrace=False
        )
    try:
        return fairness_session.named_model(name)
    except FairnessError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def grader() -> Grader:
    """The grader of probes whose mark names none; its grade is called ``answer``."""
    from pytest_fairness.graders.choice import Choice

    return Choice()


@pytest.fixture
def probe_item(request: pytest.FixtureRequest, model_name: str | None) -> ItemUnderTest:
    """The item of this test: its prompts, and ``measure(model)``."""
    given = getattr(request, "param", Unbuilt("`probe_item` is for tests marked @pytest.mark.probe(items=...)"))
    if isinstance(given, Unbuilt):
        given.end()
    return ItemUnderTest(request, given, model_name)


@pytest.fixture
def baseline(measured: LazyMeasured, fairness_session: FairnessSession) -> LazyBaseline:
    """What the probe measured in the run of ``--fairness-baseline``, for ``measured.against(baseline)``."""
    return LazyBaseline(measured, fairness_session)


@pytest.fixture(scope="module")
def measured(request: pytest.FixtureRequest, model: object, model_name: str | None) -> LazyMeasured:
    """The metrics of the probe's whole sample; what is missing is asked for on first use."""
    if request.config.stash[SESSION].settings.verify:
        from pytest_fairness.session.dry_runs.stored import StoredMeasured

        return StoredMeasured(request, model, model_name)
    return LazyMeasured(request, model, model_name)


@pytest.fixture(scope="module")
def flips(request: pytest.FixtureRequest, model: object, model_name: str | None) -> Flips:
    """Whether the decision on a pair of texts flips, repeatably: ``assert not flips(pair)`` in a test of hypothesis."""
    return Flips(request, model, model_name)
