"""The `flips` fixture: what a test of hypothesis searches, through the engine and the store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.attempts import value_or_none
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem
from pytest_fairness.core.keys import fingerprint_of
from pytest_fairness.engine.errors import StoppedError
from pytest_fairness.report.repeating import command_of_test
from pytest_fairness.report.texts import visible
from pytest_fairness.session.compat import hypothesis_settings, set_hypothesis_settings
from pytest_fairness.session.judges import with_judges
from pytest_fairness.session.measuring import counts
from pytest_fairness.session.state import SESSION, FairnessSession

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import GradedAttempt
    from pytest_fairness.core.items import Prompt
    from pytest_fairness.core.protocols import Model
    from pytest_fairness.engine.sample import Sample
    from pytest_fairness.search.searching import Flip, Search
    from pytest_fairness.search.space import Pair, Space

SEARCHES: pytest.StashKey[dict[tuple[object, ...], Searched]] = pytest.StashKey()
"""What a test has searched since it was set up."""


def is_search(item: pytest.Item) -> bool:
    """Whether a test takes the `flips` fixture."""
    return {"flips", "model_name"} <= set(getattr(item, "fixturenames", ()))  # another plugin may have a `flips`


def begin(item: pytest.Item) -> None:
    """Before the test runs, or runs again. Hypothesis' deadline is lifted: it counts the model's time as the test's."""
    item.stash[SEARCHES] = {}
    function = getattr(item, "obj", None)
    chosen = hypothesis_settings(function)
    if chosen is not None and chosen.deadline is not None:
        from hypothesis import settings

        set_hypothesis_settings(getattr(function, "__func__", function), settings(chosen, deadline=None))


class Searched:
    """One search of a test, and what it has asked."""

    def __init__(self, fairness: FairnessSession, space: Space, model: Model, graders: Mapping[str, Any]) -> None:
        self._fairness = fairness
        self.space = space  # also keeps its id from being given to another
        self.model = model
        self._graders = graders
        self.graded: list[GradedAttempt] = []
        self.search: Search
        self.broken: BaseException | None = None
        """What every later example is told, too: hypothesis calls a test that ends differently flaky."""

    def ask(self, wanted: Sequence[tuple[Prompt, int, int]]) -> list[list[Any]]:
        """Decisions on prompts, each with its first repetition and their number; all are asked at once."""
        samples = [self._sample(*each) for each in wanted]
        self._fairness.engine.attempts([ask for sample in samples for ask in sample.asks([0])])
        decided = []
        for sample in samples:
            graded = sample.measure_all()
            self.graded += graded
            (name,) = graded[0].grades
            decided.append([value_or_none(each.grades[name]) for each in graded])
        return decided

    def _sample(self, prompt: Prompt, first: int, number: int) -> Sample:
        from pytest_fairness.engine.sample import Sample

        items = [ProbeItem("searched", [prompt])]
        first += self._fairness.first_repetition(self.model, [prompt])
        sample = Sample(items, self.model, number, self._fairness.engine, first, self._fairness.first_repetition)
        sample.grade_with(self._graders)
        return sample

    @property
    def error(self) -> str:
        """Why the search cannot go on; empty where it can."""
        errors = [each.attempt.error for each in self.graded if each.attempt.error is not None]
        made = len(self.graded)
        return f"{len(errors)} of {made} attempts could not be made: {visible(errors[0])}" if errors else ""

    def row(self, item: pytest.Item) -> dict[str, Any]:
        """The search as the results file has it."""
        flip = self.search.flip
        return {
            "id": item.nodeid,
            "model": self.model.name,
            "calls": self.search.calls,
            "from_store": sum(each.attempt.from_store for each in self.graded),
            "flip": flip and _flip_row(flip),
            "command": command(item, self._fairness),
        }


def _flip_row(flip: Flip) -> dict[str, Any]:
    return {
        "texts": [flip.left.text, flip.right.text],
        "differences": list(flip.differences),
        "decisions": [told if isinstance(told, str | bool | int) else str(told) for told in flip.decisions],
        "counts": list(flip.counts),
        "n": flip.n,
        "k": flip.k,
        "p_value": flip.p_value,
    }


def command(item: pytest.Item, fairness: FairnessSession) -> str:
    """A line for a shell that runs one test as this run has: hypothesis begins with what it has found before."""
    settings = fairness.settings
    return command_of_test(item.nodeid, item.location[0], {"command": settings.arguments, **asdict(settings.call)})


class Flips:
    """``flips(pair)``: the flip that a pair holds, shrunk and confirmed, or None; the value of the fixture.

    ``grader`` says what was decided (a grader as a probe's mark takes it; the `grader` fixture where none is given).
    ``n`` repetitions confirm a flip, ``calls`` are the most that one test asks. See `Search` for what is promised.
    """

    def __init__(self, request: pytest.FixtureRequest, model: object, model_name: str | None) -> None:
        self._request = request
        self._fairness = request.config.stash[SESSION]
        try:
            self._model = self._fairness.as_model(model, model_name)
        except FairnessError as error:
            pytest.fail(str(error), pytrace=False)

    def __repr__(self) -> str:
        return f"<flips of {self._model.name}>"

    def __call__(self, pair: Pair, grader: object = None, *, n: int = 10, calls: int = 200) -> Flip | None:
        __tracebackhide__ = True
        item = self._fairness.test
        if item is None or SEARCHES not in item.stash:
            raise FairnessError("flips is called outside of a test that takes it: give it to the test as an argument")
        searched = self._searched(item, pair, grader, n, calls)
        if searched.broken is not None:
            raise searched.broken
        try:
            flip = searched.search.flips(pair)
        except StoppedError as error:
            pytest.skip(str(error))
        except FairnessError as error:
            searched.broken = pytest.fail.Exception(str(error), pytrace=False)
            raise searched.broken from None
        if searched.error:
            searched.broken = pytest.fail.Exception(searched.error, pytrace=False)
            raise searched.broken
        if flip is not None:
            _note(f"{flip}\nreplay: {command(item, self._fairness)}")
        return flip

    def _searched(self, item: pytest.Item, pair: Pair, grader: object, n: int, calls: int) -> Searched:
        from pytest_fairness.search.searching import Search

        # A grader that is written in the test is a new one for each example.
        key = id(pair.space), fingerprint_of(grader) or type(grader), n, calls
        searches = item.stash[SEARCHES]
        if key not in searches:
            searched = Searched(self._fairness, pair.space, self._model, self._graders(item, grader))
            try:
                searched.search = Search(searched.ask, n=n, calls=calls)
            except FairnessError as error:
                pytest.fail(str(error), pytrace=False)
            searches[key] = searched
        return searches[key]

    def _graders(self, item: pytest.Item, grader: object) -> dict[str, Any]:
        given = self._request.getfixturevalue("grader") if grader is None else grader
        if not any(callable(getattr(given, name, None)) for name in ("grade", "grade_item", "grade_batch", "graders")):
            pytest.fail(f"the grader of flips is {given!r:.80}: it has no grade(prompt, answer)", pytrace=False)
        graders = with_judges({"decision": given}, item.name, self._request)
        if len(graders) > 1:
            pytest.fail(
                f"the grader of flips gives {len(graders)} grades ({', '.join(graders)}): "
                "a search is about one decision, so give a rubric of one field",
                pytrace=False,
            )
        return graders


def _note(text: str) -> None:
    """Beside the example that hypothesis shows at its end."""
    from hypothesis import currently_in_test_context, note

    if currently_in_test_context():
        note(visible(text, lines=True))


def properties(item: pytest.Item) -> list[tuple[str, Any]]:
    """What a test's report carries of its searches: rows as JSON, and its attempts as any test's that measures."""
    searches = list(item.stash.get(SEARCHES, {}).values())
    graded = [each for searched in searches for each in searched.graded]
    if not graded:
        return []
    rows = [searched.row(item) for searched in searches]
    return [("fairness_model", rows[0]["model"]), *counts(graded).items(), ("fairness_searches", json.dumps(rows))]
