"""The `flips` fixture: searches of hypothesis tests for decisions that flip, through the engine and the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.attempts import SampleCounts, value_or_none
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.items import ProbeItem
from pytest_fairness.core.keys import fingerprint_of
from pytest_fairness.core.results import RunResult
from pytest_fairness.engine.errors import RunStoppedError
from pytest_fairness.plugin import report_data
from pytest_fairness.plugin.compat import hypothesis_settings, set_hypothesis_settings
from pytest_fairness.plugin.judges import resolve_judge_graders
from pytest_fairness.plugin.session import SESSION, FairnessSession
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.repeat_commands import command_of_test

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import GradedAttempt
    from pytest_fairness.core.items import Prompt
    from pytest_fairness.core.protocols import Model
    from pytest_fairness.core.search_results import FlipResult, SearchResult
    from pytest_fairness.engine.probe_sample import ProbeSample
    from pytest_fairness.flip_search.search import Flip, Search
    from pytest_fairness.flip_search.space import TextPair, TextSpace

SEARCHES: pytest.StashKey[dict[tuple[object, ...], SearchSession]] = pytest.StashKey()
"""The searches of a test since it was set up."""


def is_search(item: pytest.Item) -> bool:
    """Return whether a test uses the `flips` fixture."""
    names = getattr(item, "fixturenames", ())
    return "flips" in names and "model_name" in names  # another plugin may have a `flips`


def begin(item: pytest.Item) -> None:
    """Prepare a test for a run or rerun, without hypothesis' deadline, which would include the time of the model."""
    item.stash[SEARCHES] = {}
    function = getattr(item, "obj", None)
    declared = hypothesis_settings(function)
    if declared is not None and declared.deadline is not None:
        from hypothesis import settings

        set_hypothesis_settings(getattr(function, "__func__", function), settings(declared, deadline=None))


class SearchSession:
    """One search of a test, with its attempts."""

    def __init__(self, fairness: FairnessSession, space: TextSpace, model: Model, graders: Mapping[str, Any]) -> None:
        self._fairness = fairness
        self.space = space  # a reference, so that its id is not reused
        self.model = model
        self._graders = graders
        self.graded: list[GradedAttempt] = []
        self.search: Search
        self.broken: BaseException | None = None
        """The error of an example, raised for later ones as well: else hypothesis would report a flaky test."""
        self.passed: set[tuple[Any, ...]] = set()
        """Pairs without a flip before the error, which continue to pass for the same reason."""

    def ask(self, prompts: Sequence[tuple[Prompt, int, int]]) -> list[list[Any]]:
        """Return the decisions on prompts, which are requested together.

        Args:
            prompts: Each with its first repetition and their number.

        Returns:
            For each prompt, the decisions of its repetitions.
        """
        samples = [self._sample(*request) for request in prompts]
        self._fairness.engine.attempts([request for sample in samples for request in sample.requests([0])])
        decisions = []
        for sample in samples:
            graded = sample.measure_all()
            self.graded += graded
            (name,) = graded[0].grades
            decisions.append([value_or_none(attempt.grades[name]) for attempt in graded])
        return decisions

    def _sample(self, prompt: Prompt, first: int, number: int) -> ProbeSample:
        from pytest_fairness.engine.probe_sample import ProbeSample

        items = [ProbeItem("searched", [prompt])]
        first += self._fairness.work.first_repetition(self.model, [prompt])
        sample = ProbeSample(
            items, self.model, number, self._fairness.engine, first, self._fairness.work.first_repetition
        )
        sample.grade_with(self._graders)
        return sample

    @property
    def error(self) -> str:
        """The reason why the search cannot continue; empty if it can."""
        errors = [graded.attempt.error for graded in self.graded if graded.attempt.error is not None]
        count = len(self.graded)
        return f"{len(errors)} of {count} attempts could not be made: {escape_controls(errors[0])}" if errors else ""

    def result(self, item: pytest.Item) -> SearchResult:
        """Return the search for the results file."""
        from pytest_fairness.core.search_results import SearchResult

        flip = self.search.flip
        return SearchResult(
            id=item.nodeid,
            model=self.model.name,
            calls=self.search.calls,
            from_store=sum(graded.attempt.from_store for graded in self.graded),
            flip=None if flip is None else _flip_result(flip),
            command=command(item, self._fairness),
        )


def _flip_result(flip: Flip) -> FlipResult:
    from pytest_fairness.core.search_results import FlipResult

    return FlipResult(
        texts=[flip.left.text, flip.right.text],
        differences=flip.differences,
        decisions=[
            decision if isinstance(decision, str | bool | int) else str(decision) for decision in flip.decisions
        ],
        counts=flip.counts,
        n=flip.n,
        k=flip.k,
        p_value=flip.p_value,
    )


def command(item: pytest.Item, fairness: FairnessSession) -> str:
    """Return the command that reruns a test; hypothesis begins with its stored examples."""
    settings = fairness.settings
    run = RunResult(id=fairness.run, started="", command=settings.arguments, **asdict(settings.call))
    return command_of_test(item.nodeid, item.location[0], run)


class FlipFinder:
    """Value of the fixture `flips`: ``flips(pair)`` returns the flip of a pair, shrunk and confirmed, or None.

    ``grader`` reads the decision from an answer, as in the mark of a probe (default: the `grader` fixture). ``n``
    repetitions confirm a flip, and one test makes at most ``calls`` calls. `Search` describes the error probability.
    """

    def __init__(self, request: pytest.FixtureRequest, model: object, model_name: str | None) -> None:
        self._request = request
        self._fairness = request.config.stash[SESSION]
        try:
            self._model = self._fairness.models.wrap(model, model_name)
        except FairnessError as error:
            pytest.fail(str(error), pytrace=False)

    def __repr__(self) -> str:
        return f"<flips of {self._model.name}>"

    def __call__(self, pair: TextPair, grader: object = None, *, n: int = 10, calls: int = 200) -> Flip | None:
        __tracebackhide__ = True
        item = self._fairness.test
        if item is None or SEARCHES not in item.stash:
            raise FairnessError("flips is called outside of a test that takes it: give it to the test as an argument")
        session = self._search_session(item, pair, grader, n, calls)
        choices = (pair.left, *pair.rights)
        if session.broken is not None:
            if choices in session.passed:
                return None
            raise session.broken
        try:
            flip = session.search.flips(pair)
        except RunStoppedError as error:
            pytest.skip(str(error))
        except FairnessError as error:
            session.broken = pytest.fail.Exception(str(error), pytrace=False)
            raise session.broken from None
        if session.error:
            session.broken = pytest.fail.Exception(session.error, pytrace=False)
            raise session.broken
        if flip is None:
            session.passed.add(choices)
        else:
            _note(f"{flip}\nreplay: {command(item, self._fairness)}")
        return flip

    def _search_session(self, item: pytest.Item, pair: TextPair, grader: object, n: int, calls: int) -> SearchSession:
        from pytest_fairness.flip_search.search import Search

        # By fingerprint, since a grader in the body of the test is a new object for each example.
        key = id(pair.space), fingerprint_of(grader) or type(grader), n, calls
        searches = item.stash[SEARCHES]
        if key not in searches:
            session = SearchSession(self._fairness, pair.space, self._model, self._graders(item, grader))
            try:
                session.search = Search(session.ask, n=n, calls=calls)
            except FairnessError as error:
                pytest.fail(str(error), pytrace=False)
            searches[key] = session
        return searches[key]

    def _graders(self, item: pytest.Item, grader: object) -> dict[str, Any]:
        decision = self._request.getfixturevalue("grader") if grader is None else grader
        if not any(
            callable(getattr(decision, name, None)) for name in ("grade", "grade_item", "grade_batch", "graders")
        ):
            pytest.fail(f"the grader of flips is {decision!r:.80}: it has no grade(prompt, answer)", pytrace=False)
        graders = resolve_judge_graders({"decision": decision}, item.name, self._request)
        if len(graders) > 1:
            pytest.fail(
                f"the grader of flips gives {counted(len(graders), 'grade')} ({', '.join(graders)}): "
                "a search is about one decision, so give a rubric of one field",
                pytrace=False,
            )
        return graders


def _note(text: str) -> None:
    """Add a text to the example that hypothesis shows at its end."""
    from hypothesis import currently_in_test_context, note

    if currently_in_test_context():
        note(escape_controls(text, lines=True))


def search_data(item: pytest.Item) -> dict[str, Any]:
    """Return what a report has of a test's searches: their results, and their attempts as in any test that measures."""
    searches = list(item.stash.get(SEARCHES, {}).values())
    graded = [attempt for session in searches for attempt in session.graded]
    if not graded:
        return {}
    results = [session.result(item) for session in searches]
    sample = {"probe": "", "item": "", "model": results[0].model, "counts": SampleCounts.of(graded).to_json()}
    return {report_data.SAMPLE: sample, report_data.SEARCHES: [result.to_json() for result in results]}
