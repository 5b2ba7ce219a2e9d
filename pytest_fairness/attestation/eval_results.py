"""Results of a model for the Hugging Face hub: a file of the folder ``.eval_results`` in the model's repository."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import (
    Exporter,
    RunReference,
    ThresholdResult,
    View,
    add_model,
    bounds_of,
    counted,
    did_you_mean,
    escape_controls,
    format_level,
    phrases,
    select_thresholds,
    write_text,
)
from pytest_fairness.extending import json_text as json


def eval_results(
    view: View,
    model: str | None,
    dataset: Mapping[str, str],
    tasks: Mapping[str, str] | None = None,
    source: str | None = None,
) -> list[dict[str, Any]]:
    """Return an entry for each threshold that has an estimate, in the fields of the hub.

    The hub has no field for an interval: ``notes`` have it, with the bounds and the verdict.

    Args:
        view: The run.
        model: The model; None where the run has only one.
        dataset: The fields ``id`` and, if wanted, ``revision`` of the hub's benchmark.
        tasks: The benchmark's task for each test that is exported; None: all, each named as its test.
        source: An address at which the results can be read.

    Raises:
        FairnessError: The run has not this model or has several, a test is not among its thresholds, or two
            thresholds have one name.
    """
    rows = {row.id: row for row in select_thresholds(view, model)}
    chosen = _by_task(rows, tasks)
    entries = []
    for task, row in chosen.items():
        entry = {"dataset": {**dataset, "task_id": task}, "value": row.estimate.value, "date": view.results.run.started}
        entries.append({**entry, **({"source": {"url": source}} if source else {}), "notes": _notes(row)})
    return entries


def _by_task(rows: Mapping[str, ThresholdResult], tasks: Mapping[str, str] | None) -> dict[str, ThresholdResult]:
    names: dict[str, list[ThresholdResult]] = {}
    for row in rows.values():
        names.setdefault(row.id.rpartition("::")[2].partition("[")[0], []).append(row)
    chosen: dict[str, ThresholdResult] = {}
    for name, task in (tasks if tasks is not None else {name: name for name in names}).items():
        matches = names.get(name, [])
        if len(matches) != 1:
            fault = f"{len(matches)} thresholds have that name" if matches else did_you_mean(name, names)
            raise FairnessError(f"--task {name}: {fault}")
        if matches[0].estimate.value is not None:
            chosen[task] = matches[0]
        elif tasks is not None:
            raise FairnessError(f"--task {name}: it has no estimate: {matches[0].message or matches[0].verdict}")
    return chosen


def _notes(row: ThresholdResult) -> str:
    estimate = row.estimate
    interval = f"{format_level(estimate.confidence or 0.95)} CI {_shown(estimate.low)} to {_shown(estimate.high)}"
    counts = f"{counted(estimate.items, 'item')}, {counted(estimate.attempts, 'attempt')}"
    parts = [
        estimate.title or estimate.metric,
        interval,
        f"accepted: {bounds_of(row)}",
        f"verdict: {row.verdict}",
        f"{counts}, {sum(estimate.ungraded.values()):,} ungraded",
        *([phrases.override_note(row)] if phrases.override_note(row) else []),
        *([phrases.SIMULATED] if phrases.is_simulated(row.model) else []),
        *row.restricted,
        "measured with pytest-fairness",
    ]
    return "; ".join(parts)


def _shown(end: float | None) -> str:
    return "unbounded" if end is None else f"{end:.4g}"


def _yaml(entries: Sequence[Mapping[str, Any]]) -> str:
    """Return entries as YAML in block style; texts are quoted as in JSON, which is valid YAML 1.2."""
    blocks = ("\n".join(_lines(entry)) for entry in entries)
    return "".join(f"- {block[2:]}\n" for block in blocks)


def _lines(entry: Mapping[str, Any]) -> Iterator[str]:
    for name, value in entry.items():
        if isinstance(value, Mapping):
            yield f"  {name}:"
            yield from (f"    {key}: {_scalar(content)}" for key, content in value.items())
        else:
            yield f"  {name}: {_scalar(value)}"


def _scalar(value: Any) -> str:
    return json.dumps(escape_controls(value) if isinstance(value, str) else value, ensure_ascii=False)


class EvalResultsExport(Exporter):
    """The export ``eval-results``."""

    help = "one model's results for the hub: a file of .eval_results/ in the model's repository"
    out = "the YAML file to write, such as .eval_results/fairness.yaml"

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_model(parser)
        parser.add_argument("--dataset", required=True, metavar="OWNER/NAME", help="the benchmark on the hub")
        parser.add_argument("--revision", metavar="COMMIT", help="its commit")
        parser.add_argument(
            "--task",
            action="append",
            metavar="TEST=ID",
            help="a threshold's test and its task in the benchmark's eval.yaml (repeatable; all, by their names)",
        )
        parser.add_argument("--source", metavar="URL", help="where the report can be read")

    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:
        dataset = {"id": arguments.dataset, **({"revision": arguments.revision} if arguments.revision else {})}
        if arguments.dataset.count("/") != 1:
            raise FairnessError(f"--dataset is {arguments.dataset!r}: write OWNER/NAME, as on the hub")
        tasks = None if arguments.task is None else dict(map(_task, arguments.task))
        entries = eval_results(run.read(), arguments.model, dataset, tasks, arguments.source)
        if not entries:
            raise FairnessError("the run has no threshold with an estimate")
        write_text(out, _yaml(entries))
        return f"{counted(len(entries), 'result')} written to {out}"


def _task(text: str) -> tuple[str, str]:
    name, equals, task = text.partition("=")
    if not (name and equals and task):
        raise FairnessError(f"--task is {text!r}: write TEST=ID")
    return name, task
