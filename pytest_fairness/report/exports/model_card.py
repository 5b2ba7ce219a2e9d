"""A run in a model's card on the Hugging Face hub: ``model-index`` metadata, and a section of Markdown."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.formatting import bounds_of, figures
from pytest_fairness.core.marks import NOT_MARKED
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.core.results import RunResult, ThresholdResult
from pytest_fairness.report import phrases
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.exports.exporter import Exporter, RunReference, add_model
from pytest_fairness.report.files import write_text
from pytest_fairness.report.markdown_escaping import escape
from pytest_fairness.report.release import NOT_JUDGED, sentence
from pytest_fairness.report.severity import worst_first
from pytest_fairness.report.view import View

_TASK = {"type": "text-generation", "name": "Text Generation"}
_HUB = "transformers:"
"""Models of this provider are named as on the hub."""


def model_index(view: View, model: str) -> dict[str, Any]:
    """Return one entry of ``model-index``: a result for each suite, and in it a metric for each threshold.

    The fields are those of the hub's specification (``modelcard.md`` of huggingface/hub-docs).
    What it has no field for stands in ``args`` of a metric: the interval (``low``, ``high``,
    ``confidence``), the ``bounds``, ``verdict``, ``mark``, ``items`` and ``attempts``. A
    threshold without an estimate is not in it: a metric must have a value.

    Raises `FairnessError` for a model that the run did not ask.
    """
    rows = _rows(view, model)
    results = []
    for suite in dict.fromkeys(row.suite for row in rows):
        metrics = [_metric(row) for row in rows if row.suite == suite and row.estimate is not None]
        dataset = {"type": suite, "name": f"pytest-fairness suite {suite}"}
        if metrics:
            results.append({"task": dict(_TASK), "dataset": dataset, "metrics": metrics})
    return {"name": _hub_name(model), "results": results}


def model_card(view: View, model: str) -> str:
    """Return the section of a model's card: its front matter in YAML, then Markdown.

    Merge the front matter into that of the card: ``model-index`` is a list, of one model here.
    Raises `FairnessError` for a model that the run did not ask.
    """
    rows = worst_first(_rows(view, model))
    index = "\n".join(_yaml([model_index(view, model)], 0))
    release = next(line for line in view.results.release if line.model == model)
    lines = ["---", "model-index:", index, "---", "", "## Fairness", ""]
    lines += [f"{escape(sentence(release))[:1].upper()}{escape(sentence(release))[1:]}.", ""]
    if phrases.is_simulated(model):
        lines += [f"Simulated: {phrases.SIMULATED}.", ""]
    lines += ["| suite | threshold | estimate | interval | bounds | mark | verdict |", "|---|---|---|---|---|---|---|"]
    lines += [_line(row) for row in rows if row.verdict != NOT_JUDGED]
    lines += ["", *_notes(view.results.run, rows)]
    return "\n".join(lines) + "\n"


def _rows(view: View, model: str) -> list[ThresholdResult]:
    rows = [threshold.row for threshold in view.thresholds if threshold.row.model == model]
    if not rows:
        models = {threshold.row.model for threshold in view.thresholds}
        raise FairnessError(f"the run has no threshold on {model!r}: {did_you_mean(model, models)}")
    return rows


def _hub_name(model: str) -> str:
    return escape_controls(model.removeprefix(_HUB).partition("?")[0] if model.startswith(_HUB) else model)


def _metric(row: ThresholdResult) -> dict[str, Any]:
    kind = row.metric if row.kind is MetricKind.CUSTOM else row.kind.value
    numbers = ("low", "high", "confidence", "bounds", "verdict", "mark", "items", "attempts")
    content = row.to_json()
    return {
        "type": kind,
        "name": f"{row.title} ({row.threshold})",
        "value": row.estimate,
        "args": {"metric": row.metric, **{name: content[name] for name in numbers}, "slice": dict(row.slice)},
    }


def _line(row: ThresholdResult) -> str:
    value, low, high = figures(row, row.comparisons)
    interval = "-" if row.estimate is None else f"{low} to {high} ({(row.confidence or 0.95) * 100:.4g}%)"
    cells = (row.suite, row.threshold, value, interval, bounds_of(row), row.mark or NOT_MARKED, row.verdict)
    return f"| {' | '.join(escape(cell) for cell in cells)} |"


def _notes(run: RunResult, rows: list[ThresholdResult]) -> Iterator[str]:
    for row in rows:
        if row.verdict == "invalid":
            yield f"- Not measured: **{escape(row.threshold)}**: {escape(row.message.removeprefix('invalid: '))}"
        if own := phrases.own(row):
            yield f"- **{escape(row.threshold)}**: {escape(own)}"
    version = run.versions.get("pytest-fairness", "")
    yield (
        f"- Measured with pytest-fairness {escape(version)}, run {escape(run.id[:8])}, {escape(run.started)}. "
        "Fair: the whole interval lies inside the bounds. Undecided: it crosses a bound."
    )


def _yaml(value: Any, depth: int) -> Iterator[str]:
    """Yield builtins as lines of YAML in block style; each text is quoted as in JSON, which YAML 1.2 holds."""
    pad = "  " * depth
    if isinstance(value, dict) and value:
        for name, content in value.items():
            if isinstance(content, dict | list) and content:
                yield f"{pad}{_scalar(name)}:"
                yield from _yaml(content, depth + 1)
            else:
                yield f"{pad}{_scalar(name)}: {_scalar(content)}"
    else:
        for content in value:
            first, *rest = _yaml(content, depth + 1) if isinstance(content, dict | list) else [_scalar(content)]
            yield f"{pad}- {first.lstrip()}"
            yield from rest


def _scalar(value: Any) -> str:
    return json.dumps(escape_controls(value) if isinstance(value, str) else value, ensure_ascii=False)


class ModelCardExport(Exporter):
    """The export ``model-card``."""

    help = "a section for a model's card, with `model-index` metadata of the hub"
    out = "the Markdown file to write"

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_model(parser)

    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:
        view = run.read()
        models = [line.model for line in view.results.release]
        if arguments.model is None and len(models) != 1:
            raise FairnessError(f"the run has {len(models)} models: name one with --model; {did_you_mean('', models)}")
        write_text(out, model_card(view, arguments.model or models[0]))
        return f"written: {out}"
