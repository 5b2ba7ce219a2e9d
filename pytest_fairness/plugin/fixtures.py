"""Fixtures for tests; projects may override `model`, `grader` and `judge`.

Every pytest run loads this module, so it imports next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from pytest_fairness.core.data_folders import DataFolders
    from pytest_fairness.core.protocols import Grader, Model
    from pytest_fairness.plugin.baseline import LazyBaseline
    from pytest_fairness.plugin.measurement import MeasuredFixture
    from pytest_fairness.plugin.probe_item import ProbeItemHandle
    from pytest_fairness.plugin.session import FairnessSession


def make_session_fixtures(start: Callable[[], FairnessSession]) -> ModuleType:
    """Return a module with the fixtures of all tests of probes.

    They take neither `request` nor each other where they can: for each test, pytest makes a new `request`, and visits
    all fixtures again.

    Args:
        start: A function that returns the session of this process, which it creates at its first call.
    """

    def use() -> FairnessSession:
        fairness = start()
        fairness.use()
        if fairness.fault:
            pytest.fail(fairness.fault, pytrace=False)
        return fairness

    @pytest.fixture(scope="session")
    def fairness_session() -> FairnessSession:
        """Return the fairness session of this process, for the plugin's own fixtures."""
        return use()

    @pytest.fixture(scope="session")
    def model_name() -> str | None:
        """Return the name of the model under test: each model of the run for probes and thresholds, else the first."""
        fairness = use()
        first = fairness.models.names()[0]
        return cast("str | None", fairness.parameters.get("model_name", first and str(first)))

    @pytest.fixture(scope="session")
    def model(model_name: str | None) -> Model:
        """Return the model under test. Override it (session scope) with any callable from text to text."""
        from pytest_fairness.core.errors import FairnessError
        from pytest_fairness.plugin.collection import NO_MODEL

        if model_name is None:
            pytest.fail(NO_MODEL, pytrace=False)
        fairness = use()
        try:
            return fairness.models.resolve(model_name)
        except FairnessError as error:
            pytest.fail(fairness.models.show(str(error)), pytrace=False)

    @pytest.fixture
    def probe_item(model_name: str | None) -> ProbeItemHandle:
        """Return the item of this test: its prompts, and ``measure(model)``."""
        from pytest_fairness.plugin.identity import CollectionError
        from pytest_fairness.plugin.probe_item import ProbeItemHandle

        fairness = start()
        unmarked = CollectionError("`probe_item` is for tests marked @pytest.mark.probe(items=...)")
        parameter = fairness.parameters.get("probe_item", unmarked)
        if isinstance(parameter, CollectionError):
            parameter.end()
        return ProbeItemHandle(fairness, parameter, model_name)

    module = ModuleType("session fixtures")
    vars(module).update(fairness_session=fairness_session, model_name=model_name, model=model, probe_item=probe_item)
    return module


@pytest.fixture(scope="session")
def judge(fairness_session: FairnessSession) -> Model:
    """Return the model that grades answers, for judge graders. There is no default."""
    from pytest_fairness.core.errors import FairnessError
    from pytest_fairness.plugin.judges import NO_JUDGE

    name = fairness_session.settings.judge
    if name is None:
        pytest.fail(NO_JUDGE, pytrace=False)
    try:
        return fairness_session.models.resolve(name)
    except FairnessError as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def optional_judge(request: pytest.FixtureRequest, fairness_session: FairnessSession) -> Model | None:
    """Return the `judge`; None if none is named and the fixture is not overridden."""
    from pytest_fairness.plugin.judges import NO_JUDGE

    try:
        judge = request.getfixturevalue("judge")
    except pytest.fail.Exception as error:
        if str(error) != NO_JUDGE:
            raise
        return None
    return fairness_session.models.wrap(judge, None)


@pytest.fixture(scope="session")
def data_folders(fairness_session: FairnessSession) -> DataFolders:
    """Return the data folders that the user named for suites, the argument ``data`` of item functions."""
    from pytest_fairness.plugin.probe import make_data_folders

    return make_data_folders(fairness_session.settings)


@pytest.fixture(scope="session")
def grader() -> Grader:
    """Return the default grader of probes; its grade is called ``answer``."""
    from pytest_fairness.graders.choice import Choice

    return Choice()


@pytest.fixture
def baseline(measured: MeasuredFixture, fairness_session: FairnessSession) -> LazyBaseline:
    """Return the probe's metrics in the run of ``--fairness-baseline``, for ``measured.against(baseline)``."""
    from pytest_fairness.plugin.baseline import LazyBaseline
    from pytest_fairness.plugin.measurement import lazy_measured

    return LazyBaseline(lazy_measured(measured), fairness_session)


@pytest.fixture(scope="module")
def measured(
    request: pytest.FixtureRequest, fairness_session: FairnessSession, model: object, model_name: str | None
) -> MeasuredFixture:
    """Return the metrics of the probe's whole sample; missing answers are requested on first use."""
    from pytest_fairness.plugin.measurement import LazyMeasured, MeasuredFixture

    if fairness_session.settings.verify:
        from pytest_fairness.plugin.dry_runs.stored_measured import StoredMeasured

        return MeasuredFixture(StoredMeasured(request, model, model_name), fairness_session)
    return MeasuredFixture(LazyMeasured(request, model, model_name), fairness_session)


@pytest.fixture(scope="module")
def flips(request: pytest.FixtureRequest, model: object, model_name: str | None) -> Any:
    """Return a search for decisions that flip within a pair of texts: ``assert not flips(pair)`` under hypothesis."""
    from pytest_fairness.plugin.own_tests import load_search

    return load_search(request.config)(request, model, model_name)
