"""Who judges: a `Judge` in a mark, with the models that it asks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.session.state import SESSION

if TYPE_CHECKING:
    from pytest_fairness.core.attempts import GradedAttempt
    from pytest_fairness.core.protocols import Model
    from pytest_fairness.graders.judge import Judge, Panel


def with_judges(graders: Mapping[str, Any], probe: str, request: pytest.FixtureRequest) -> dict[str, Any]:
    """The graders of a mark, each `Judge` among them as the graders that it stands for."""
    from pytest_fairness.graders.judge import Judge

    found: dict[str, Any] = {}
    for name, grader in graders.items():
        try:
            those = grader.graders(name, judges_of(grader, request)) if isinstance(grader, Judge) else {name: grader}
        except FairnessError as error:
            pytest.fail(f"probe {probe}: {error}", pytrace=False)
        for grade in those:
            if grade in found or (grade != name and grade in graders):
                pytest.fail(
                    f"probe {probe}: the judge of {name!r} has a field {grade!r}, "
                    "and another grade is called so: rename one",
                    pytrace=False,
                )
        found |= those
    return found


def judges_of(judge: Judge, request: pytest.FixtureRequest) -> list[Model]:
    """The models that judge: those named, or the `judge` fixture's.

    Raises `FairnessError` for a name that means none.
    """
    fairness = request.config.stash[SESSION]
    given = judge.models
    if given is None:
        fixture = request.getfixturevalue("judge")
        given = fixture if isinstance(fixture, Sequence) and not isinstance(fixture, str) else [fixture]
    return [fairness.named_model(one) if isinstance(one, str) else fairness.as_model(one, None) for one in given]


def judged_by(graders: Mapping[str, Any], attempts: Sequence[GradedAttempt], subject: Model) -> list[dict[str, Any]]:
    """Who judged, and how far they agreed: a line of builtins for each `Judge` of a probe.

    ``agreement`` is Krippendorff's alpha by field, of several judges only; None where it is not defined.
    """
    from pytest_fairness.graders.judge import Judging, Panel

    panels = {name: grader for name, grader in graders.items() if isinstance(grader, Panel)}
    members = {judge for panel in panels.values() for judge in panel.judges}
    asked = {name: [name] for name, grader in graders.items() if isinstance(grader, Judging) and name not in members}
    lines = []
    for name, judges in {**asked, **{name: panel.judges for name, panel in panels.items()}}.items():
        # What a suite of the user's wraps around one may not tell whom it asks.
        models = [asking.model for judge in judges if isinstance(asking := graders[judge], Judging)]
        lines.append(
            {
                "grade": name,
                "models": [model.name for model in models],
                "own": [model.name for model in models if model.key == subject.key],
                "agreement": _agreement(panels[name], attempts) if name in panels else {},
            }
        )
    return lines


def _agreement(panel: Panel, attempts: Sequence[GradedAttempt]) -> dict[str, float | None]:
    from pytest_fairness.graders.agreement import agreement

    found = agreement(panel.fields, ([attempt.grades[name] for name in panel.judges] for attempt in attempts))
    return {field: alpha if math.isfinite(alpha) else None for field, alpha in found.items()}
