"""``pytest-fairness accept``: write an accepted verdict into a reviewed file."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fairness.cli.arguments import Commands, add_command, add_store, secret_redactor
from pytest_fairness.core.acceptance_states import FILE
from pytest_fairness.core.clock import Clock
from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.output_files import partial_file

if TYPE_CHECKING:
    from pytest_fairness.core.acceptances import Acceptance
    from pytest_fairness.core.model_names import ModelNames
    from pytest_fairness.core.threshold_results import ThresholdResult


def add(commands: Commands) -> None:
    """Declare the command."""
    accept = add_command(
        commands,
        "accept",
        "accept an unfair or undecided verdict until a day",
        f"Write an accepted verdict into {FILE}, for review. The verdict keeps its word; a worse estimate, another "
        "bound or the day after --until breaks the acceptance (docs/decisions.md).",
    )
    accept.add_argument("name", metavar="RUN", help="id of a run, its beginning, latest, or a results file")
    accept.add_argument("threshold", metavar="THRESHOLD", help="id of the test, the end of it, or its title")
    accept.add_argument("--reason", required=True, metavar="TEXT", help="why the verdict is accepted")
    accept.add_argument("--by", required=True, metavar="NAME", help="who owns the decision")
    accept.add_argument(
        "--until", required=True, type=_day, metavar="YYYY-MM-DD", help="last day, at most a year ahead"
    )
    accept.add_argument("--model", metavar="NAME", help="model, where the run has several")
    accept.add_argument(
        "--file", type=Path, default=Path(FILE), metavar="FILE", help=f"file of accepted verdicts ({FILE})"
    )
    accept.add_argument("--replace", action="store_true", help="replace the entry of the same threshold and model")
    add_store(accept)
    accept.set_defaults(run=_accept)


def _day(text: str) -> date:
    try:
        if len(text) != len("2026-12-31"):
            raise ValueError
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no date: write one as in 2026-12-31") from None


def _accept(options: argparse.Namespace) -> None:

    from pytest_fairness.core.acceptances import acceptance_of
    from pytest_fairness.report.compare.load import read_run
    from pytest_fairness.report.decisions import decision_facts
    from pytest_fairness.report.shown_names import names_of

    results = read_run(options.name, options.store, secret_redactor()).results
    names = names_of(results.run, [line.model for line in results.release])
    today = Clock.now().date()
    with _showing(names):
        row = _find(results.thresholds, options.threshold, names.full(options.model), names)
        if options.until < today:
            raise FairnessError(f"--until {options.until} is over: name today, {today}, or a later day")
        acceptance = acceptance_of(
            row, run=results.run.id, by=options.by, reason=options.reason, on=today, until=options.until
        )
    acceptance = _write(options.file, acceptance, replaces=options.replace)
    print(f"accepted until {acceptance.until}: {row.threshold} ({names.show(row.model)})")
    print(f"  {decision_facts(acceptance.result())}")
    print(f"written: {options.file}; review it and commit it")


@contextmanager
def _showing(names: ModelNames) -> Iterator[None]:
    """Give models in errors the names that outputs show, by which a user names them too."""
    try:
        yield
    except FairnessError as error:
        raise FairnessError(names.show(str(error))) from None


def _find(rows: Sequence[ThresholdResult], text: str, model: str | None, names: ModelNames) -> ThresholdResult:
    """Return the threshold that an argument names. Raises `FairnessError` where none or several are meant."""
    of_model = [row for row in rows if model in (None, row.model)]
    if not of_model:
        models = {names.show(row.model) for row in rows}
        raise FairnessError(f"the run has no model {model!r}; {did_you_mean(model or '', models)}")
    rules = (
        lambda row: row.id == text,
        lambda row: row.threshold == text,
        lambda row: text in (row.id.partition("[")[0], row.id.rpartition("::")[2], f"{row.suite}::{_name(row)}"),
        lambda row: _name(row) == text or row.id.partition("[")[0].endswith(f"/{text}"),
    )
    matches = next(filter(None, ([row for row in of_model if rule(row)] for rule in rules)), [])
    if not matches:
        ids = {_name(row) for row in of_model} | {row.id for row in of_model}
        raise FairnessError(f"the run has no threshold {text!r}; {did_you_mean(text, ids)}")
    if len(matches) > 1:
        shown = " or ".join(f"{row.id} on {row.model}" for row in matches[:3])
        raise FairnessError(f"{text!r} may be {shown}: write the whole id, or give --model")
    return matches[0]


def _name(row: ThresholdResult) -> str:
    return row.id.partition("[")[0].rpartition("::")[2]


def _write(path: Path, acceptance: Acceptance, *, replaces: bool) -> Acceptance:
    """Add an entry to the file, or replace the entry of the same threshold and model; return it as it was written."""
    from pytest_fairness.core.acceptances import TABLE, parse_acceptances, read_acceptances
    from pytest_fairness.core.toml_files import entry_lines
    from pytest_fairness.report.acceptance_file import HEAD, entry_text

    entries = read_acceptances(path)
    key = acceptance.threshold, acceptance.model
    index = next((number for number, entry in enumerate(entries) if (entry.threshold, entry.model) == key), None)
    if index is not None and not replaces:
        raise FairnessError(
            f"{entries[index].where}: this verdict is accepted until {entries[index].until}: give --replace for "
            "another decision, or remove the entry"
        )
    text = path.read_text(encoding="utf-8-sig") if path.exists() else HEAD
    if index is not None:
        acceptance = acceptance.renewal_of(entries[index])
    entry = entry_text(acceptance)
    try:
        if index is None:
            text = f"{text.rstrip()}\n\n{entry}"
        else:
            lines = re.findall(r"[^\n]*\n|[^\n]+", text)
            first, last = entry_lines(text, TABLE, index)
            text = "".join([*lines[:first], entry, *lines[last:]])
        written = {(other.threshold, other.model) for other in parse_acceptances(text, path.name)}
    except (LookupError, FairnessError):  # test_decision_is_not_written_into_another_layout
        written = set()
    if written != {*((other.threshold, other.model) for other in entries), key}:
        raise FairnessError(f"{path} has another layout than this command writes: add or remove the entry by hand")
    try:
        with partial_file(path) as partial:
            partial.write_text(text, encoding="utf-8")
    except OSError as error:
        raise FairnessError(f"the file {path} cannot be written: {error.strerror}") from None
    return acceptance
