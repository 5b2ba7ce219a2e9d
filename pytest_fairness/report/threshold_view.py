"""The view of one threshold of a run: its result, earlier runs, slices and example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from pytest_fairness.core.attempts import GradedAttempt
from pytest_fairness.core.breakdown import ExampleSideResult
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.model_names import WRAPPED, is_recorded, keys_in_runs
from pytest_fairness.core.results import RunResults
from pytest_fairness.core.threshold_results import MetricResult, PastResult, ThresholdResult
from pytest_fairness.report.repeat_commands import command_of_test
from pytest_fairness.store.store import Store

MOST_PROMPTS = 4
"""The most prompts of a whole item that are shown."""


@dataclass(frozen=True, slots=True)
class SideView:
    """One side of an example: a group, or the whole item if the metric has no groups."""

    group: str
    prompt: Prompt
    attempts: Sequence[GradedAttempt]
    """The attempts of that prompt alone, with their answers."""
    numbers: ExampleSideResult
    """The numbers of the group in this item."""
    label: str = ""
    """The position of the prompt, such as "prompt 1 of 2", if a whole item is shown with all of its prompts."""


@dataclass(frozen=True, slots=True)
class ExampleView:
    """The item that illustrates a threshold best."""

    item: str
    sides: Sequence[SideView]
    """Two where groups are compared; one for each prompt, at most `MOST_PROMPTS`, of a whole item; else one."""
    command: str = ""
    """The command that repeats the item's test; empty where it has none."""


@dataclass(frozen=True, slots=True)
class ThresholdView:
    """One threshold on one model."""

    row: ThresholdResult
    history: Sequence[PastResult] = ()
    """Results of earlier runs of the same threshold on the same model, oldest first."""
    slices: Sequence[MetricResult] = ()
    """Estimates of the same metric on parts of its sample."""
    example: ExampleView | None = None
    command: str = ""
    """The command that repeats the threshold."""


def threshold_view(
    store: Store, row: ThresholdResult, results: RunResults, by_key: Mapping[str, GradedAttempt]
) -> ThresholdView:
    """Return the view of a threshold.

    Args:
        store: The store, which has its earlier runs.
        row: Its result.
        results: The results of its run.
        by_key: The attempts of the run, by key.
    """
    earlier = map(
        PastResult.from_row, store.runs.history(*keys_in_runs(row.stored_id, row.model), before=results.run.id)
    )
    return ThresholdView(
        row,
        [result for result in earlier if result.result.model == row.model and result.result.probe in ("", row.probe)],
        list(_slices(row, results.metrics)),
        _example(row, results, by_key),
        command_of_test(row.id, row.location[0], results.run, _option_name(row)),
    )


def _slices(row: ThresholdResult, metrics: Sequence[MetricResult]) -> Iterator[MetricResult]:
    """Yield the estimates of the same metric, whatever its sign, on slices by one more attribute."""
    key = row.probe, row.model, row.estimate.base or row.estimate.metric
    for metric in metrics:
        if (metric.probe, metric.model, metric.base or metric.metric) != key:
            continue
        if row.estimate.slice.items() < metric.slice.items() and len(metric.slice) == len(row.estimate.slice) + 1:
            yield metric


def _example(row: ThresholdResult, results: RunResults, by_key: Mapping[str, GradedAttempt]) -> ExampleView | None:
    example = row.example
    if example is None:
        return None
    sides = []
    for side in example.sides:
        attempts = [by_key[key] for key in side.keys if key in by_key]
        if not attempts:
            return None
        by_prompt = [list(shared) for _, shared in groupby(attempts, key=lambda graded: graded.prompt)]
        for number, shown in enumerate(by_prompt[:MOST_PROMPTS], start=1):
            label = f"prompt {number} of {len(by_prompt)}" if len(by_prompt) > 1 else ""
            sides.append(SideView(side.group, shown[0].prompt, shown, side, label))
    item = sides[0].attempts[0].item
    if example.test is None and is_recorded(row.model):  # the rows of a table are no tests
        return ExampleView(item.id, sides)
    test = example.test or _item_test(row, item)
    return ExampleView(item.id, sides, command_of_test(test, row.location[0], results.run, _option_name(row)))


def _item_test(row: ThresholdResult, item: ProbeItem) -> str:
    """Return the id of an item's test, from that of a threshold on the same model."""
    file, _, name = row.probe.partition("@")[0].partition("::")  # the part after @ is a class with its own graders
    threshold_file = row.location[0].replace(
        "\\", "/"
    )  # relative to the rootdir; ids of files outside of it have less of the path
    test_file = threshold_file if f"/{threshold_file}".endswith(f"/{file}") else file
    model = row.id.partition("[")[2].removesuffix("]")
    return f"{test_file}::{name.replace('.', '::')}[{item.test_id}{'-' if model else ''}{model}]"


def _option_name(row: ThresholdResult) -> str:
    """Return the model of a row as it is named in an option; empty for one that none can name: a callable, a table."""
    name = row.model.partition(WRAPPED)[0]
    return row.alias or ("" if name.startswith("function:") or is_recorded(name) else name)
