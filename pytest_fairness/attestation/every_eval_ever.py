"""A run in the schema of Every Eval Ever, the EvalEval coalition's exchange format: one JSON file for each model."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from pytest_fairness.attestation.documents import escape_texts
from pytest_fairness.extending import (
    Clock,
    Exporter,
    MetricKind,
    ReleaseResult,
    RunReference,
    ThresholdResult,
    View,
    add_model,
    bounds_of,
    counted,
    phrases,
    release_sentence,
    select_thresholds,
    write_text,
)
from pytest_fairness.extending import json_text as json

SCHEMA_VERSION = "0.3.0"
RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
_RANGES: Mapping[MetricKind, tuple[float | str, float | str]] = {
    MetricKind.RATE: (0, 1),
    MetricKind.RATIO: (0, "Infinity"),
    MetricKind.ODDS_RATIO: (0, "Infinity"),
    MetricKind.WORST_RATIO: (0, 1),
    MetricKind.CORRELATION: (-1, 1),
}
_UNBOUNDED = ("-Infinity", "Infinity")
_METHOD = "clustered by item or source; worst case over ungraded answers (pytest-fairness, docs/statistics.md)"
_LOCAL = "transformers:"
"""Models of this provider have names of the Hugging Face hub, and run on the user's machine."""


def evaluation_log(view: View, model: str | None, organization: str, relationship: str) -> dict[str, Any]:
    """Return the content of ``UUID.json``: a result with its interval for each threshold that has an estimate.

    Bounds, verdict, mark and counts are in ``score_details.details``, the verdict on the release, and thresholds
    without an estimate, in ``source_metadata.additional_details``.

    Args:
        view: The run.
        model: The model; None where the run has only one.
        organization: The organization that provides the data.
        relationship: That of the organization to the model, one of `RELATIONSHIPS`.

    Raises:
        FairnessError: The run has no such model, or several.
    """
    run = view.results.run
    rows = select_thresholds(view, model)
    name = rows[0].model
    release = next(line for line in view.results.release if line.model == name)
    started = str(int(datetime.fromisoformat(run.started).timestamp()))
    hub_name = _hub_name(name)
    log = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"pytest-fairness/{hub_name.replace('/', '_')}/{started}",
        "evaluation_timestamp": started,
        "retrieved_timestamp": str(int(Clock.now_in_seconds())),
        "source_metadata": {
            "source_name": "pytest-fairness",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": relationship,
            "additional_details": {"run": run.id, **_release_details(release, rows)},
        },
        "eval_library": {"name": "pytest-fairness", "version": run.versions.get("pytest-fairness", "unknown")},
        "model_info": {
            "name": name,
            "id": hub_name,
            "additional_details": {
                "deployment_type": "self_deployed" if name.startswith(_LOCAL) else "unknown",
                "model_availability": "unknown",
            },
        },
        "evaluation_results": [_result(row, started) for row in rows if row.estimate.value is not None],
    }
    cleaned: dict[str, Any] = escape_texts(log)
    return cleaned


def _release_details(release: ReleaseResult, rows: list[ThresholdResult]) -> dict[str, str]:
    missing = {row.id: row.message or row.verdict for row in rows if row.estimate.value is None}
    details = {"release": release.verdict, "release_summary": release_sentence(release)}
    return {**details, **({"without_estimate": json.dumps(missing)} if missing else {})}


def _result(row: ThresholdResult, started: str) -> dict[str, Any]:
    low, high = _range(row)
    return {
        "evaluation_result_id": f"{row.id}#{row.estimate.metric}",
        "evaluation_name": f"{row.suite}: {row.threshold}",
        "evaluation_timestamp": started,
        "source_data": {"dataset_name": row.suite or row.probe, "source_type": "other"},
        "metric_config": {
            "evaluation_description": row.threshold,
            "metric_id": f"pytest_fairness.{row.estimate.metric}",
            "metric_name": row.estimate.title or row.estimate.metric,
            "metric_kind": row.estimate.kind.value,
            "lower_is_better": row.bounds[0] is None and row.bounds[1] is not None,
            "score_type": "continuous",
            "min_score": low,
            "max_score": high,
            **_metric_details(row),
        },
        "score_details": {"score": row.estimate.value, "details": _details(row), **_uncertainty(row)},
        **_generation(row.model),
    }


def _range(row: ThresholdResult) -> tuple[float | str, float | str]:
    """Return the lowest and the highest value that the metric can have."""
    low, high = _RANGES.get(row.estimate.kind, _UNBOUNDED)
    if row.estimate.absolute:
        return 0, high
    if row.estimate.negated:
        signs = {"Infinity": "-Infinity", "-Infinity": "Infinity"}
        low, high = (signs[end] if isinstance(end, str) else -end for end in (high, low))
    return low, high


def _metric_details(row: ThresholdResult) -> dict[str, Any]:
    details = {
        "metric": row.estimate.metric,
        "harm": row.harm,
        "slice": json.dumps(dict(row.estimate.slice)) if row.estimate.slice else "",
    }
    if row.estimate.parity is not None:
        details["parity"] = f"{row.estimate.parity:g}"  # the best value
    return {"additional_details": {name: text for name, text in details.items() if text}}


def _details(row: ThresholdResult) -> dict[str, str]:
    details = {
        "verdict": row.verdict,
        "accepted": bounds_of(row),
        "mark": row.estimate.mark or "",
        "items": str(row.estimate.items),
        "attempts": str(row.estimate.attempts),
        "ungraded": json.dumps(dict(row.estimate.ungraded)),
        "groups": json.dumps(dict(row.estimate.groups)) if row.estimate.groups else "",
        "restricted": "; ".join(row.restricted),
        "message": row.message,
        "overridden": phrases.override_note(row),
        "simulated": phrases.SIMULATED if phrases.is_simulated(row.model) else "",
    }
    if row.estimate.low is None or row.estimate.high is None:  # an end at infinity, which the schema has no number for
        details["interval"] = json.dumps([row.estimate.low, row.estimate.high])
    return {name: text for name, text in details.items() if text}


def _uncertainty(row: ThresholdResult) -> dict[str, Any]:
    uncertainty: dict[str, Any] = {"num_samples": row.estimate.sources or row.estimate.items}
    if row.estimate.low is not None and row.estimate.high is not None:
        interval = {"lower": row.estimate.low, "upper": row.estimate.high, "method": _METHOD}
        uncertainty["confidence_interval"] = {**interval, "confidence_level": row.estimate.confidence or 0.95}
    return {"uncertainty": uncertainty}


def _generation(model: str) -> dict[str, Any]:
    """Return the decoding that a model's name declares."""
    parameters = dict(parse_qsl(model.partition("?")[2]))
    if not parameters:
        return {}
    numbers = {name: float(parameters[name]) for name in ("temperature", "top_p") if _is_number(parameters.get(name))}
    return {"generation_config": {"generation_args": numbers, "additional_details": parameters}}


def _is_number(text: str | None) -> bool:
    try:
        return text is not None and abs(float(text)) < 1e9
    except ValueError:
        return False


def _hub_name(model: str) -> str:
    """Return the name of a model as the schema has it: ``org/model``, or ``provider/model``.

    >>> _hub_name("transformers:org/model-1b?device=cpu"), _hub_name("openai:gpt-5-mini")
    ('org/model-1b', 'openai/gpt-5-mini')
    """
    plain = model.partition("?")[0]
    return plain.removeprefix(_LOCAL) if plain.startswith(_LOCAL) else plain.replace(":", "/", 1)


class EveryEvalEverExport(Exporter):
    """The export ``every-eval-ever``."""

    help = "one model's results in the schema of Every Eval Ever, with intervals"
    out = "the JSON file to write"

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_model(parser)
        parser.add_argument("--organization", default="unknown", metavar="NAME", help="who provides the results")
        parser.add_argument(
            "--relationship",
            default="other",
            choices=RELATIONSHIPS,
            help="that of the organization to the model (other)",
        )

    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:
        log = evaluation_log(run.read(), arguments.model, arguments.organization, arguments.relationship)
        write_text(out, json.dumps(log, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        return f"{counted(len(log['evaluation_results']), 'result')} written to {out}"
