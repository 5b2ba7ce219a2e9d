"""One model's results as a bill of materials of CycloneDX, with a model card: metrics, slices and intervals.

Source: https://cyclonedx.org/docs/1.6/json/, ``components.modelCard``.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from pytest_fairness.attestation.documents import escape_texts
from pytest_fairness.extending import (
    Exporter,
    ReleaseResult,
    RunReference,
    SliceResult,
    ThresholdResult,
    View,
    add_model,
    bounds_of,
    counted,
    finding,
    phrases,
    release_sentence,
    select_thresholds,
    write_text,
)
from pytest_fairness.extending import json_text as json

SPEC_VERSION = "1.6"
_NAMESPACE = UUID("6ad2f4b3-3a3f-4f0e-9a41-6c2d8a2f7f35")
_PREFIX = "pytest-fairness"


def bill_of_materials(view: View, model: str | None) -> dict[str, Any]:
    """Return the bill of materials of one model, whose card has a metric for each threshold and each declared slice.

    Unfair thresholds are assessments of fairness; those without a verdict are limitations. Verdicts and bounds, for
    which the format has no field, are properties.

    Args:
        view: The run.
        model: The model; None where the run has only one.

    Raises:
        FairnessError: The run has no such model, or several.
    """
    run = view.results.run
    rows = select_thresholds(view, model)
    name = rows[0].model
    release = next(line for line in view.results.release if line.model == name)
    provider, colon, short = name.partition("?")[0].partition(":")
    tool = {"type": "application", "name": "pytest-fairness"}
    version = run.versions.get("pytest-fairness")
    component = {
        "type": "machine-learning-model",
        "bom-ref": "model",
        **({"group": provider, "name": short} if colon and short else {"name": provider}),
        "modelCard": _model_card(rows, release),
        "properties": _properties({"model": name, "release": release.verdict, "run": run.id, "commit": run.git or ""}),
    }
    bill = {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPEC_VERSION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "serialNumber": f"urn:uuid:{uuid5(_NAMESPACE, f'{run.id} {name}'.encode('utf-8', 'replace').decode())}",
        "version": 1,
        "metadata": {
            "timestamp": run.ended or run.started,
            "tools": {"components": [tool | {"version": version} if version else tool]},
        },
        "components": [component],
    }
    escaped: dict[str, Any] = escape_texts(bill)
    return escaped


def _model_card(rows: Sequence[ThresholdResult], release: ReleaseResult) -> dict[str, Any]:
    metrics = [metric for row in rows for metric in _metrics(row)]
    assessments = [
        {"groupAtRisk": _group_at_risk(row), "harms": f"{row.harm or 'harm'}: {finding(row)}"}
        for row in rows
        if row.verdict == "unfair"
    ]
    simulated = [phrases.SIMULATED] if phrases.is_simulated(release.model) else []
    limitations = [f"{row.verdict}: {row.threshold or row.id}" for row in rows if row.verdict not in ("fair", "unfair")]
    considerations: dict[str, Any] = {"technicalLimitations": [*simulated, release_sentence(release), *limitations]}
    if assessments:
        considerations["fairnessAssessments"] = assessments
    verdicts = {
        f"threshold:{row.id}": "; ".join(filter(None, (row.verdict_text, bounds_of(row), row.threshold)))
        for row in rows
    }
    return {
        "quantitativeAnalysis": {"performanceMetrics": metrics},
        "considerations": considerations,
        "properties": _properties(verdicts),
    }


def _metrics(row: ThresholdResult) -> Iterator[dict[str, Any]]:
    estimate = row.estimate
    if estimate.value is not None:
        yield _metric(estimate.metric, estimate.value, (estimate.low, estimate.high), estimate.slice)
    pooled: Sequence[SliceResult] = () if row.pooled is None else (row.pooled,)
    for part in (*pooled, *row.slices):
        if part.value is not None and part.slice != estimate.slice:
            yield _metric(part.metric, part.value, (part.low, part.high), part.slice)


def _metric(
    name: str, value: float, ends: tuple[float | None, float | None], names: Mapping[str, str]
) -> dict[str, Any]:
    interval = {
        bound: repr(end) for bound, end in zip(("lowerBound", "upperBound"), ends, strict=True) if end is not None
    }
    metric: dict[str, Any] = {"type": name, "value": repr(value)}
    if names:
        metric["slice"] = ", ".join(f"{attribute} {group}" for attribute, group in names.items())
    return metric | ({"confidenceInterval": interval} if interval else {})


def _group_at_risk(row: ThresholdResult) -> str:
    """Return the slice that made a threshold unfair, and the groups that it compares; else everybody."""
    groups = ", ".join(row.estimate.groups)
    by_attribute = f"{row.estimate.attribute}: {groups}" if row.estimate.attribute and groups else groups
    return "; ".join(filter(None, (row.deciding_slice_name, by_attribute))) or "everybody"


def _properties(values: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": f"{_PREFIX}:{name}", "value": value} for name, value in values.items() if value]


class CycloneDxExport(Exporter):
    """The export ``cyclonedx``."""

    help = "one model's results as a CycloneDX bill of materials: metrics, slices and intervals"
    out = "the JSON file to write"

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_model(parser)

    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:
        bill = bill_of_materials(run.read(), arguments.model)
        write_text(out, json.dumps(bill, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        metrics = bill["components"][0]["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
        return f"{counted(len(metrics), 'metric')} written to {out}"
