"""Commands that hand a stored run to other tools: Parquet, a model card, impact ratios."""

from __future__ import annotations

import argparse
from pathlib import Path

from pytest_fairness.commands.parsing import Commands, add_run, view_of
from pytest_fairness.core.errors import FairnessError, near


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
    samples = {sample.model: sample for sample in view.samples if set(GRADES) <= set(sample.graders)}
    if chosen.model not in samples and (chosen.model is not None or len(samples) != 1):
        raise FairnessError(f"the run has pairs of {len(samples)} models: name one with --model; {near('', samples)}")
    sample = samples[chosen.model] if chosen.model else next(iter(samples.values()))
    metrics = [row for row in view.results["metrics"] if row["model"] == sample.model]
    for name, text in files(sample).items():
        write_text(chosen.out / name, text)
    write_text(chosen.out / "pairs.md", f"# Question pairs\n{table(metrics)}\n\n{flagged(sample)}\n")
    print(f"written: {chosen.out}")
