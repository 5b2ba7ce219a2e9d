"""Results and views of a run in which models have their shown names; stored results keep the full ones."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from pytest_fairness.core.model_names import ModelNames
from pytest_fairness.core.results import RunResult, RunResults
from pytest_fairness.report.results import redacted
from pytest_fairness.report.view import View


def names_of(run: RunResult, models: list[str] | None = None) -> ModelNames:
    """Return the shown names of a run's models; those of ``models`` where an older version has stored none."""
    return ModelNames(run.names) if run.names else ModelNames.of([*run.models, *(models or ())])


def with_shown_names(results: RunResults) -> RunResults:
    """Return results for display: each text has the shown name of a model in place of the full one.

    The record of the run itself keeps the full names, of which the method and commands are made.
    """
    names = names_of(results.run, [line.model for line in results.release])
    run = replace(results.run, names=names.shown)
    shown = cast("RunResults", redacted(replace(results, run=RunResult(id="", started="")), names.show))
    calls = [replace(line, model=names.show(line.model)) for line in run.calls]
    return replace(shown, run=replace(run, calls=calls))


def shown_view(view: View) -> View:
    """Return a view for display, as `with_shown_names` does it."""
    results = with_shown_names(view.results)
    names = ModelNames(results.run.names)
    thresholds = [
        replace(
            threshold,
            row=redacted(threshold.row, names.show),
            history=[
                replace(past, result=replace(past.result, message=names.show(past.result.message), judges=judges))
                for past in threshold.history
                for judges in [redacted(list(past.result.judges), names.show)]
            ],
            slices=redacted(list(threshold.slices), names.show),
        )
        for threshold in view.thresholds
    ]
    samples = [replace(sample, model=names.show(sample.model)) for sample in view.samples]
    return replace(view, results=results, thresholds=thresholds, samples=samples)
