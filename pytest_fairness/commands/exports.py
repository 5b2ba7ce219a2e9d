"""Commands that hand a stored run to other tools: Parquet, a model card, impact ratios."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fairness.commands.parsing import Commands, add_run, view_of
from pytest_fairness.core.errors import FairnessError, near

if TYPE_CHECKING:
    from pytest_fairness.report.view import View
    from pytest_fairness.store.samples import StoredSample


def add(commands: Commands) -> None:
    """Declare them."""
    exports = commands.add_parser("export", help="a stored run in another tool's form")
    kinds = exports.add_subparsers(required=True, metavar="KIND")
    attempts = kinds.add_parser("parquet", help="every attempt with its grades, as Parquet")
    add_run(attempts)
    _add_out(attempts, "Parquet")
    attempts.set_defaults(run=_attempts)
    card = kinds.add_parser("model-card", help="a section for a model's card, with `model-index` metadata of the hub")
    add_run(card)
    card.add_argument("--model", metavar="NAME", help="the model; needed where the run has several")
    _add_out(card, "Markdown")
    card.set_defaults(run=_model_card)
    impact = kinds.add_parser("impact-ratios", help="selection rates in the form of New York City's Local Law 144")
    add_run(impact)
    impact.add_argument("--grade", required=True, help="the grade that selects, or the score")
    impact.add_argument("--sex", required=True, metavar="ATTRIBUTE", help="the attribute of sex or gender")
    impact.add_argument("--ethnicity", required=True, metavar="ATTRIBUTE", help="the attribute of race and ethnicity")
    impact.add_argument("--equals", metavar="TEXT", help="the value of the grade that selects, where it is a text")
    _add_out(impact, "its ending, .md or .csv, says how")
    impact.set_defaults(run=_impact)
    pairs = kinds.add_parser("bbq-pairs", help="BBQ's question pairs: a table, the flagged ones, and published records")
    add_run(pairs)
    pairs.add_argument("--model", metavar="NAME", help="the model; needed where the run has several")
    pairs.add_argument("--out", required=True, type=Path, metavar="DIR", help="the folder to write into")
    pairs.set_defaults(run=_pairs)
    labels = kinds.add_parser("labels", help="answers drawn by chance for a human to label, to correct a judge by")
    add_run(labels)
    labels.add_argument("--grade", required=True, help="the grade to be labelled")
    labels.add_argument("--by", action="append", default=[], metavar="ATTRIBUTE", help="draw within each of its groups")
    labels.add_argument("--probe", metavar="NAME", help="only of this probe: its id, or the end of it")
    labels.add_argument("--model", metavar="NAME", help="only of this model")
    labels.add_argument("--count", type=int, default=200, help="how many of each group (200)")
    labels.add_argument("--seed", type=int, default=0, help="of the draw (0)")
    _add_out(labels, "JSONL, to be filled in")
    labels.set_defaults(run=_labels)
    asymmetry = kinds.add_parser("asymmetry", help="the asymmetry suite: figures, and the layout of published runs")
    add_run(asymmetry, "or a file of graded answers (.jsonl)")
    asymmetry.add_argument("--model", metavar="NAME", help="the model; needed where the run has several")
    asymmetry.add_argument("--out", required=True, type=Path, metavar="DIR", help="the folder to write into")
    asymmetry.set_defaults(run=_asymmetry)


def _add_out(parser: argparse.ArgumentParser, how: str) -> None:
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help=f"the file to write: {how}")


def _attempts(chosen: argparse.Namespace) -> None:
    from pytest_fairness.report.exports.parquet import write_parquet

    count = write_parquet(view_of(chosen), chosen.out)
    print(f"{count:,} attempts written to {chosen.out}")


def _model_card(chosen: argparse.Namespace) -> None:
    from pytest_fairness.report.exports.modelcard import model_card
    from pytest_fairness.report.files import write_text

    view = view_of(chosen)
    models = [line["model"] for line in view.results["release"]]
    if chosen.model is None and len(models) != 1:
        raise FairnessError(f"the run has {len(models)} models: name one with --model; {near('', models)}")
    write_text(chosen.out, model_card(view, chosen.model or models[0]))
    print(f"written: {chosen.out}")


def _impact(chosen: argparse.Namespace) -> None:
    from pytest_fairness.report.exports.impact import impact_tables
    from pytest_fairness.report.exports.impact_text import impact_csv, impact_markdown
    from pytest_fairness.report.files import write_text

    shown = impact_csv if chosen.out.suffix == ".csv" else impact_markdown
    samples = [sample for sample in view_of(chosen).samples if chosen.grade in sample.graders]
    if not samples:
        raise FairnessError(f"no probe of the run has a grade {chosen.grade!r}")
    tables = [
        impact_tables(sample, chosen.grade, sex=chosen.sex, ethnicity=chosen.ethnicity, equals=chosen.equals)
        for sample in samples
    ]
    write_text(chosen.out, "\n".join(map(shown, tables)))
    print(f"written: {chosen.out}")


def _pairs(chosen: argparse.Namespace) -> None:
    from pytest_fairness.report.exports.pairs import GRADES, files
    from pytest_fairness.report.exports.pairs_markdown import flagged, table
    from pytest_fairness.report.files import write_text

    view = view_of(chosen)
    sample = _sample_with(view, GRADES, "pairs", chosen.model)
    metrics = [row for row in view.results["metrics"] if row["model"] == sample.model]
    for name, text in files(sample).items():
        write_text(chosen.out / name, text)
    write_text(chosen.out / "pairs.md", f"# Question pairs\n{table(metrics)}\n\n{flagged(sample)}\n")
    print(f"written: {chosen.out}")


def _labels(chosen: argparse.Namespace) -> None:
    from pytest_fairness.report.exports.labels import drawn_labels, write_labels

    samples = [
        sample
        for sample in view_of(chosen).samples
        if chosen.model in (None, sample.model) and sample.probe.endswith(chosen.probe or "")
    ]
    rows = drawn_labels(samples, chosen.grade, by=chosen.by, count=chosen.count, seed=chosen.seed)
    write_labels(chosen.out, rows)
    print(f'{len(rows):,} answers written to {chosen.out}: put what is true into each "value"')


def _asymmetry(chosen: argparse.Namespace) -> None:
    from pytest_fairness.imports.asymmetry import records
    from pytest_fairness.report.exports import asymmetry
    from pytest_fairness.report.exports.asymmetry_figures import figures, markdown
    from pytest_fairness.report.files import write_text
    from pytest_fairness.stats.asymmetry_records import EXTREMES, attempts_of
    from pytest_fairness.stats.measured import Measured

    if chosen.name.endswith(".jsonl"):
        graded: Sequence[Mapping[str, Any]] = [record for _, record in records(Path(chosen.name))]
        attempts, title = attempts_of(graded), Path(chosen.name).name
        if not attempts:
            raise FairnessError(f"{chosen.name} holds no answer of the two domains: name a graded_responses.jsonl")
        measured = Measured(attempts, extremes=EXTREMES)
        generated = next((str(record["graded_at"]) for record in graded if record.get("graded_at")), "")
    else:
        view = view_of(chosen)
        sample = _sample_with(view, asymmetry.GRADES, "asymmetry", chosen.model)
        generated, title, attempts = view.results["run"]["ended"], sample.model, list(sample.attempts)
        measured = Measured(attempts, extremes=sample.extremes, **sample.arguments)
        graded = asymmetry.graded_responses(sample, generated)
        write_text(chosen.out / "raw_responses.jsonl", asymmetry.jsonl(asymmetry.raw_responses(sample)))
        write_text(chosen.out / "graded_responses.jsonl", asymmetry.jsonl(graded))
    told = {"model": title, **figures(measured, attempts)}
    summary = asymmetry.published_summary(graded, str(chosen.out), generated)
    write_text(chosen.out / "summary.json", json.dumps(summary, indent=2, ensure_ascii=False) + "\n")
    write_text(chosen.out / "figures.json", json.dumps(told, indent=2, ensure_ascii=False) + "\n")
    write_text(chosen.out / "summary.md", markdown(title, told, len(attempts)))
    print(f"written: {chosen.out}")


def _sample_with(view: View, grades: Iterable[str], what: str, model: str | None) -> StoredSample:
    """The sample that has these grades, of the model that is named."""
    samples = {sample.model: sample for sample in view.samples if set(grades) <= set(sample.graders)}
    if model not in samples and (model is not None or len(samples) != 1):
        raise FairnessError(f"the run has {what} of {len(samples)} models: name one with --model; {near('', samples)}")
    return samples[model] if model else next(iter(samples.values()))
