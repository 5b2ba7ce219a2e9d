"""The `flips` fixture: searches of hypothesis tests for decisions that flip, through the engine and the store."""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness import FairnessError
from pytest_fairness.extending import (
    ModelQueries,
    RunStoppedError,
    add_query_fixture,
    add_search_results,
    asks_models,
    counted,
    escape_controls,
    fingerprint_of,
    hypothesis_settings,
    set_hypothesis_settings,
    value_or_none,
)

if TYPE_CHECKING:
    from pytest_fairness import GradedAttempt, Prompt
    from pytest_fairness.extending import FlipResult, Placebo, SearchResult
    from pytest_fairness.search.flips import Flip, Search
    from pytest_fairness.search.space import TextPair, TextSpace

SEARCHES: pytest.StashKey[dict[tuple[object, ...], SearchSession]] = pytest.StashKey()
"""The searches of a test since it was set up."""


def add_flips(config: pytest.Config) -> type[FlipFinder]:
    """Register the hooks of this module, and return the class of the fixture `flips`."""
    add_query_fixture(config, "flips", sys.modules[__name__])
    return FlipFinder


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Prepare a test for a run or rerun, without hypothesis' deadline, which would include the time of the model."""
    if "flips" not in getattr(item, "fixturenames", ()) or not asks_models(item):
        return
    item.stash[SEARCHES] = {}
    function = getattr(item, "obj", None)
    declared = hypothesis_settings(function)
    if declared is not None and declared.deadline is not None:
        from hypothesis import settings

        set_hypothesis_settings(getattr(function, "__func__", function), settings(declared, deadline=None))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Add the searches of a test to the report of its call."""
    report = yield
    if call.when == "call":
        searches = [search for search in item.stash.get(SEARCHES, {}).values() if search.graded]
        if searches:
            results = [search.result(item) for search in searches]
            add_search_results(report, results, [attempt for search in searches for attempt in search.graded])
    return report


class SearchSession:
    """One search of a test, with its attempts."""

    def __init__(self, queries: ModelQueries, space: TextSpace, graders: Mapping[str, Any]) -> None:
        self._queries = queries
        self.space = space  # a reference, so that its id is not reused
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
        decisions = []
        for graded in self._queries.ask(prompts, self._graders):
            self.graded += graded
            (name,) = graded[0].grades
            decisions.append([value_or_none(attempt.grades[name]) for attempt in graded])
        return decisions

    @property
    def error(self) -> str:
        """The reason why the search cannot continue; empty if it can."""
        errors = [graded.attempt.error for graded in self.graded if graded.attempt.error is not None]
        count = len(self.graded)
        return f"{len(errors)} of {count} attempts could not be made: {escape_controls(errors[0])}" if errors else ""

    def result(self, item: pytest.Item) -> SearchResult:
        """Return the search for the results file."""
        from pytest_fairness.extending import SearchResult

        flip = self.search.flip
        return SearchResult(
            id=item.nodeid,
            model=self._queries.model.name,
            calls=self.search.calls,
            from_store=sum(graded.attempt.from_store for graded in self.graded),
            flip=None if flip is None else _flip_result(flip),
            command=self._queries.command(item),
        )


def _flip_result(flip: Flip) -> FlipResult:
    from pytest_fairness.extending import FlipResult

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
        placebo_flips=flip.placebo_flips,
        placebo_answers=flip.placebo_answers,
        placebo_error=flip.placebo_error,
    )


class FlipFinder:
    """Value of the fixture `flips`: ``flips(pair)`` returns the flip of a pair, shrunk and confirmed, or None.

    ``grader`` reads the decision from an answer, as in the mark of a probe (default: the `grader` fixture). ``n``
    repetitions confirm a flip, and one test makes at most ``calls`` calls. ``placebo`` gives other wordings of a text,
    as in the mark of a probe: a flip is reported beside theirs. `Search` describes the error probability.
    """

    def __init__(self, request: pytest.FixtureRequest, model: object, model_name: str | None) -> None:
        self._request = request
        self._queries = ModelQueries(request, model, model_name)

    def __repr__(self) -> str:
        return f"<flips of {self._queries.model.name}>"

    def __call__(
        self,
        pair: TextPair,
        grader: object = None,
        *,
        n: int = 10,
        calls: int = 200,
        placebo: Placebo | None = None,
    ) -> Flip | None:
        __tracebackhide__ = True
        item = self._queries.test
        if item is None or SEARCHES not in item.stash:
            raise FairnessError("flips is called outside of a test that takes it: give it to the test as an argument")
        session = self._search_session(item, pair, grader, {"n": n, "calls": calls, "placebo": placebo})
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
        if session.error and session.search.flip is None:
            session.broken = pytest.fail.Exception(session.error, pytrace=False)
            raise session.broken
        if flip is None:
            session.passed.add(choices)
        else:
            _note(f"{flip}\nreplay: {self._queries.command(item)}")
        return flip

    def _search_session(
        self, item: pytest.Item, pair: TextPair, grader: object, options: Mapping[str, Any]
    ) -> SearchSession:
        from pytest_fairness.search.flips import Search

        # By fingerprint, since a grader in the body of the test is a new object for each example.
        key = id(pair.space), fingerprint_of(grader) or type(grader), options["n"], options["calls"]
        searches = item.stash[SEARCHES]
        if key not in searches:
            session = SearchSession(self._queries, pair.space, self._graders(item, grader))
            try:
                session.search = Search(session.ask, **options)
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
        graders = self._queries.resolve_graders({"decision": decision}, item.name)
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
