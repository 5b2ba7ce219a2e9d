"""The base class of exports: extensions of the group ``pytest_fairness.exports``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.model_names import ModelNames
from pytest_fairness.core.threshold_results import ThresholdResult
from pytest_fairness.report.shown_names import names_of
from pytest_fairness.report.view import View
from pytest_fairness.store.samples import StoredSample


@dataclass(frozen=True, slots=True)
class RunReference:
    """The run that was named on the command line."""

    name: str
    """An id, the beginning of one, ``latest``, or another name that the export accepts."""
    read: Callable[[], View]
    """A function that returns the stored run without secrets; it raises `FairnessError` where there is none."""


class Exporter(ABC):
    """Base class of exports: ``pytest-fairness export NAME RUN --out PATH`` writes a stored run for another tool.

    >>> class VerdictsExport(Exporter):
    ...     help = "the verdicts, one a line"
    ...     def export(self, run, out, arguments):
    ...         rows = run.read().results.thresholds
    ...         out.write_text("".join(f"{row.threshold}: {row.verdict}\\n" for row in rows))
    ...         return f"{len(rows)} verdicts written to {out}"
    """

    help: ClassVar[str]
    """One line of the command's help: the form that is written."""
    out: ClassVar[str] = "the file to write"
    """The help of ``--out``."""
    run: ClassVar[str] = ""
    """The help of RUN, if it may also be something other than a stored run."""

    def add_arguments(self, parser: ArgumentParser) -> None:  # noqa: B027 - most exports have none
        """Declare further arguments, besides RUN, ``--store`` and ``--out``.

        Args:
            parser: The parser of the command.
        """

    @abstractmethod
    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:
        """Write the file or folder, and return the line that the command prints.

        Args:
            run: The run to export.
            out: The path of ``--out``.
            arguments: The parsed arguments.

        Raises:
            FairnessError: The run lacks what is exported, or the file cannot be written.
        """


def add_model(parser: ArgumentParser) -> None:
    """Declare ``--model`` for an export of one model."""
    parser.add_argument("--model", metavar="NAME", help="the model; needed where the run has several")


def select_thresholds(view: View, model: str | None) -> list[ThresholdResult]:
    """Return the thresholds of one model.

    Args:
        view: The run.
        model: The model; None if the run has only one.

    Raises:
        FairnessError: The run has several models, or no threshold on this one.
    """
    models = list(dict.fromkeys(threshold.row.model for threshold in view.thresholds))
    model = shown_names(view).full(model)
    if model is None and len(models) != 1:
        raise FairnessError(f"the run has {len(models)} models: name one with --model; {did_you_mean('', models)}")
    rows = [threshold.row for threshold in view.thresholds if threshold.row.model == (model or models[0])]
    if not rows:
        raise FairnessError(f"the run has no threshold on {model!r}: {did_you_mean(model or '', models)}")
    return rows


def shown_names(view: View) -> ModelNames:
    """Return the names by which the outputs of a run show its models, and the user may name them here."""
    return names_of(view.results.run, [line.model for line in view.results.release])


def select_sample(view: View, grades: Iterable[str], what: str, model: str | None) -> StoredSample:
    """Return the sample that has these grades.

    Args:
        view: The run.
        grades: Names of grades.
        what: The noun for its contents, for messages.
        model: The model; None if the run has only one.

    Raises:
        FairnessError: The run has no such sample, none of this model, or several models.
    """
    model = shown_names(view).full(model)
    samples = {sample.model: sample for sample in view.samples if set(grades) <= set(sample.graders)}
    if not samples:
        raise FairnessError(f"the run has no sample of {what}: name a run of its suite")
    if model not in samples and (model is not None or len(samples) != 1):
        raise FairnessError(
            f"the run has {what} of {len(samples)} models: name one with --model; {did_you_mean('', samples)}"
        )
    return samples[model] if model else next(iter(samples.values()))
