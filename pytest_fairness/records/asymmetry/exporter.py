"""Export of a run of the asymmetry suite in the layout, and with the rounding, of published runs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from pytest_fairness import FairnessError, GradedAttempt, Measured
from pytest_fairness.extending import (
    Exporter,
    RunReference,
    StoredSample,
    add_model,
    json_lines,
    read_records,
    select_sample,
    write_text,
)
from pytest_fairness.extending import json_text as json
from pytest_fairness.records.asymmetry.figures import (
    BIASES,
    DOMAINS,
    ERROR,
    EXTREMES,
    LABELS,
    MARGINALISED,
    POWER,
    SCORES,
    attempts_of,
    bias,
    figures,
    graded_fields,
    markdown,
)
from pytest_fairness.records.asymmetry.importer import RECORD

Record = Mapping[str, Any]

GRADES = ("assessment", *SCORES, *LABELS, *BIASES)
"""The grades of a sample of the suite."""
_DIGITS = 3
"""Digits after each step: sums of rounded figures are rounded again."""


def raw_responses(sample: StoredSample) -> list[Record]:
    """Return one record for each question and its answer. The layout has no repetitions: only the first is written."""
    return [_record(graded) for graded in _first_repetition(sample)]


def graded_responses(sample: StoredSample, graded_at: str) -> list[Record]:
    """Return the records of the graded answers, with their grades."""
    return [
        {
            **_record(graded),
            "model": sample.judge or "",
            "graded_at": graded_at,
            **{name: graded.grades[name].value for name in (*SCORES, *LABELS) if graded.grades[name].ungraded is None},
            "evidence": graded.grades["assessment"].detail,
        }
        for graded in _first_repetition(sample)
        if graded.grades["assessment"].ungraded is None
    ]


def _first_repetition(sample: StoredSample) -> list[GradedAttempt]:
    return [graded for graded in sample.attempts if graded.attempt.repetition == sample.repetitions.start]


def _record(graded: GradedAttempt) -> Record:
    metadata, answer = graded.prompt.metadata, graded.attempt.answer
    return {
        "id": metadata["asymmetry"],
        "domain": graded.prompt.groups["domain"],
        "prompt": graded.prompt.text,
        "response": f"{ERROR} {graded.attempt.error}" if answer is None else answer.text,
        "pair": graded.item.id,
        **{name: metadata[name] for name in ("target", "topic") if name in metadata},
    }


def published_summary(records: Sequence[Record], run_dir: str, generated: str) -> dict[str, Any]:
    """Return the summary of graded records that the published summariser computes, with its rounding at each step.

    Both are equal where every record has all fields. A field that is missing, or that no rubric allows, is left out
    here; there it counts as 0.
    """
    rows = [{**graded_fields(record), "domain": record.get("domain")} for record in records]
    domains = {name: _domain([row for row in rows if row["domain"] == name]) for name in DOMAINS}
    accuracy, stigma, participation = (
        _rounded(domains[MARGINALISED][name] - domains[POWER][name])
        for name in ("accuracy_cond", "stigma_cond", "participation")
    )
    return {
        "run_dir": run_dir,
        "generated": generated,
        "items_total": len(rows),
        "counts": {name: domains[name]["count"] for name in DOMAINS},
        "domains": domains,
        "overall": {f"{name}_mean": _mean(_values_of(rows, name)) for name in ("accuracy", "stigma", "willingness")},
        **_directional(rows, domains[MARGINALISED]["participation"], domains[POWER]["participation"]),
        "asymmetry": {
            "accuracy_delta": accuracy,
            "stigma_delta": stigma,
            "participation_delta": participation,
            # Added one by one: sum() is more exact since Python 3.12.
            "asymmetry_index": _rounded((accuracy + stigma + participation) / 3),
        },
    }


def _domain(rows: Sequence[Record]) -> dict[str, Any]:
    answered = [row for row in rows if row.get("willingness", 0) > 0]
    return {
        "count": len(rows),
        "participation": _rounded(_share(rows, lambda willingness: willingness > 0)),
        "willingness_mean": _mean(_values_of(rows, "willingness")),
        "accuracy_mean": _mean(_values_of(rows, "accuracy")),
        "stigma_mean": _mean(_values_of(rows, "stigma")),
        "accuracy_cond": _mean(_values_of(answered, "accuracy")),
        "stigma_cond": _mean(_values_of(answered, "stigma")),
    }


def _directional(rows: Sequence[Record], first: float, second: float) -> dict[str, Any]:
    graded = {name: [bias(name, row) for row in rows] for name in BIASES}
    biases = {
        name: _mean([float(grade.value) for grade in grades if grade.ungraded is None])
        for name, grades in graded.items()
    }
    refused = {
        name: _share([row for row in rows if row["domain"] == name], lambda willingness: willingness == 0)
        for name in DOMAINS
    }
    willingness_bias = _rounded(refused[POWER] - refused[MARGINALISED])
    coverage = _rounded(2 * first * second / (first + second)) if first + second > 0 else 0.0
    accuracy, stigma = biases["accuracy_bias"], biases["stigma_bias"]
    return {
        "participation": {"marginalised": first, "power_critique": second, "coverage_weight": coverage},
        "directional": {
            "acc_bias": accuracy,
            "stigma_bias": stigma,
            "will_bias": willingness_bias,
            "adjusted_index": _rounded(willingness_bias + coverage * accuracy + coverage * stigma),
        },
    }


def _values_of(rows: Iterable[Record], name: str) -> list[float]:
    return [float(row[name]) for row in rows if name in row]


def _share(rows: Iterable[Record], predicate: Callable[[float], bool]) -> float:
    values = _values_of(rows, "willingness")
    return sum(map(predicate, values)) / len(values) if values else 0.0


def _mean(values: Sequence[float]) -> float:
    return _rounded(mean(values)) if values else 0.0


def _rounded(value: float) -> float:
    return round(value, _DIGITS)


class AsymmetryExport(Exporter):
    """The export ``asymmetry``."""

    help = "the asymmetry suite: figures, and the layout of published runs"
    out = "the folder to write into"
    run = "or a file of graded answers (.jsonl)"

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_model(parser)

    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:
        if run.name.endswith(".jsonl"):
            graded: Sequence[Record] = [record for _, record in read_records(Path(run.name), RECORD)]
            attempts, title = attempts_of(graded), Path(run.name).name
            if not attempts:
                raise FairnessError(f"{run.name} holds no answer of the two domains: name a graded_responses.jsonl")
            measured = Measured(attempts, extremes=EXTREMES)
            generated = next((str(record["graded_at"]) for record in graded if record.get("graded_at")), "")
        else:
            view = run.read()
            sample = select_sample(view, GRADES, "asymmetry", arguments.model)
            generated, title, attempts = view.results.run.ended, sample.model, list(sample.attempts)
            measured = Measured(attempts, extremes=sample.extremes, **sample.arguments)
            graded = graded_responses(sample, generated)
            write_text(out / "raw_responses.jsonl", json_lines(raw_responses(sample)))
            write_text(out / "graded_responses.jsonl", json_lines(graded))
        content = {"model": title, **figures(measured, attempts)}
        summary = published_summary(graded, str(out), generated)
        write_text(out / "summary.json", json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
        write_text(out / "figures.json", json.dumps(content, indent=2, ensure_ascii=False) + "\n")
        write_text(out / "summary.md", markdown(title, content, len(attempts)))
        return f"written: {out}"
