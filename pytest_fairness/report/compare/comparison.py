"""The comparison of several models, or of several runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.results import RunResults
from pytest_fairness.core.threshold_results import InfluenceResult, ReleaseResult, ThresholdResult
from pytest_fairness.report.compare.changes import RowComparison, against, apply_holm
from pytest_fairness.report.release import NOT_JUDGED
from pytest_fairness.report.results import distinct_title


@dataclass(frozen=True, slots=True)
class LoadedRun:
    """A loaded run: its results, and the influences of clusters."""

    name: str
    """The name that the user gave it."""
    results: RunResults
    """Its results file."""
    influences: Callable[[str], InfluenceResult | None]
    """A function from the id of a threshold's row to the influences of its clusters; None where they were not
    stored.
    """


@dataclass(frozen=True, slots=True)
class Column:
    """One model in one run."""

    label: str
    """The model, without its parameters if it is unique so; with its run if there are several."""
    model: str
    run: str
    """The run's id."""
    started: str
    release: ReleaseResult
    marks: Mapping[str, str | None]
    """The marks of each suite that is marked."""
    rows: Mapping[str, ThresholdResult]
    """Rows by test, without the model in its name."""
    influences: Callable[[str], InfluenceResult | None]


@dataclass(frozen=True, slots=True)
class ComparedThreshold:
    """One threshold in all columns."""

    test: str
    suite: str
    threshold: str
    rows: Sequence[ThresholdResult | None]
    """The row of each column; None in a column without this threshold."""
    against: Sequence[RowComparison | None]
    """The comparison of each column with its reference; None in a reference, and where one of the two has no row."""

    @property
    def title(self) -> str:
        """The threshold's title, with the test's parameters where it has some."""
        _, bracket, parameters = self.test.partition("[")
        return f"{self.threshold}{' ' if bracket else ''}{bracket}{parameters}"


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Columns of several models or runs, and their thresholds."""

    columns: Sequence[Column]
    references: Sequence[int]
    """The index of each column's reference; its own index if it has none."""
    questions: Sequence[ComparedThreshold]

    @property
    def title(self) -> str:
        """The numbers of models and runs: ``2 models``, or ``2 models in 3 runs``."""
        models, runs = (len({getattr(column, name) for column in self.columns}) for name in ("model", "run"))
        shown = counted(models, "model")
        return f"{shown} in {runs} runs" if runs > 1 else shown


@dataclass(frozen=True, slots=True)
class Changes:
    """The differences of one column from its reference."""

    column_index: int
    worse: Sequence[tuple[ComparedThreshold, RowComparison]]
    """Thresholds with a significantly worse estimate, or a worse verdict without an estimate; worst first."""
    perhaps_worse: Sequence[tuple[ComparedThreshold, RowComparison]]
    """Thresholds with a worse verdict or mark, whose estimate is not significantly worse."""
    better: Sequence[tuple[ComparedThreshold, RowComparison]]
    """Thresholds with a significantly better estimate."""
    perhaps: Sequence[tuple[ComparedThreshold, RowComparison]]
    """Thresholds with a better verdict or mark that is not significant."""
    apart: Sequence[tuple[ComparedThreshold, RowComparison]]
    """Thresholds that could not be compared, and are not worse."""
    new: Sequence[ComparedThreshold]
    """Thresholds that the reference does not have."""
    gone: Sequence[ComparedThreshold]
    """Thresholds that this column does not have."""

    @property
    def any(self) -> bool:
        """Return whether a threshold differs, is new or is gone."""
        return any(pairs for _, pairs in self.lists) or bool(self.new or self.gone)

    @property
    def lists(self) -> list[tuple[str, Sequence[tuple[ComparedThreshold, RowComparison]]]]:
        """The thresholds that both columns share, by how they changed."""
        return [
            ("worse", self.worse),
            ("perhaps worse", self.perhaps_worse),
            ("better", self.better),
            ("perhaps better", self.perhaps),
            ("not compared", self.apart),
        ]


def changes(comparison: RunComparison) -> list[Changes]:
    """Return the differences of each column from its reference: worst verdict, then mark, then p-value first."""
    by_column = []
    for index, reference in enumerate(comparison.references):
        if index == reference:
            continue
        compared = [
            (question, pairing) for question in comparison.questions if (pairing := question.against[index]) is not None
        ]
        compared.sort(key=lambda pair: pair[1].severity)
        unpaired = [question for question in comparison.questions if question.against[index] is None]
        by_column.append(
            Changes(
                index,
                [pair for pair in compared if pair[1].turn > 0 and not pair[1].is_perhaps_worse],
                [pair for pair in compared if pair[1].is_perhaps_worse],
                [pair for pair in compared if pair[1].turn < 0 and pair[1].significant_side < 0],
                [
                    pair
                    for pair in compared
                    if pair[1].turn < 0 and pair[1].significant_side == 0 and pair[1].difference is not None
                ],
                [pair for pair in compared if pair[1].turn <= 0 and pair[1].difference is None],
                [question for question in unpaired if question.rows[index] is not None],
                [question for question in unpaired if question.rows[reference] is not None],
            )
        )
    return by_column


def compare(runs: Sequence[LoadedRun], to: str | None = None) -> RunComparison:
    """Return a comparison of every model of every run.

    Args:
        runs: The runs.
        to: The label of the reference column, or the beginning of one. By default the reference of a model is the
            same model in the first run, or the first column.

    Returns:
        The comparison.

    Raises:
        FairnessError: A run is named twice, there are fewer than two columns, or ``to`` is ambiguous or unknown.
    """
    ids = [run.results.run.id for run in runs]
    if len(set(ids)) < len(ids):
        raise FairnessError(f"{', '.join(run.name for run in runs)}: one run is named twice: name others")
    columns = _label_columns([column for run in runs for column in _columns(run)])
    if len(columns) < 2:
        names = ", ".join(run.name for run in runs)
        raise FairnessError(f"{names}: {len(columns)} model, and comparing takes two: name another run")
    references = [_reference(columns, index, to) for index in range(len(columns))]
    tests = dict.fromkeys(test for column in columns for test in column.rows)
    uncorrected = [
        [_compare_with_reference(columns, references, index, test) for test in tests] for index in range(len(columns))
    ]
    by_column = [apply_holm(line) for line in uncorrected]
    questions = []
    for number, test in enumerate(tests):
        rows = [column.rows.get(test) for column in columns]
        any_row = next(row for row in rows if row is not None)
        comparisons = [line[number] for line in by_column]
        questions.append(ComparedThreshold(test, any_row.suite, any_row.threshold, rows, comparisons))
    return RunComparison(columns, references, _with_distinct_titles(questions))


def _with_distinct_titles(questions: Sequence[ComparedThreshold]) -> list[ComparedThreshold]:
    """Return the thresholds, with their tests' names where several have one title: a renamed test, say."""
    tests: dict[tuple[str, str], set[str]] = {}
    for question in questions:
        tests.setdefault((question.suite, question.threshold), set()).add(question.test.partition("[")[0])
    return [
        replace(
            question,
            threshold=distinct_title(question.threshold, question.test, tests[question.suite, question.threshold]),
        )
        for question in questions
    ]


def _compare_with_reference(
    columns: Sequence[Column], references: Sequence[int], index: int, test: str
) -> RowComparison | None:
    new, old = columns[index], columns[references[index]]
    rows = new.rows.get(test), old.rows.get(test)
    if new is old or rows[0] is None or rows[1] is None:
        return None
    return against(rows[0], rows[1], new.influences(rows[0].id), old.influences(rows[1].id))


def _reference(columns: Sequence[Column], index: int, to: str | None) -> int:
    if to is None:
        model, first_run = columns[index].model, columns[0].run
        same_model = (n for n, column in enumerate(columns) if (column.model, column.run) == (model, first_run))
        return 0 if columns[index].run == first_run else next(same_model, 0)
    matches = [n for n, column in enumerate(columns) if column.label == to]
    matches = matches or [n for n, column in enumerate(columns) if column.label.startswith(to)]
    if len(matches) != 1:
        count = "none" if not matches else f"{len(matches)}"
        labels = ", ".join(column.label for column in columns)
        raise FairnessError(f"--to {to!r} is the beginning of {count} of the columns: name one of {labels}")
    return matches[0]


def _label_columns(columns: Sequence[Column]) -> list[Column]:
    """Return the columns with the shortest labels that are unique."""
    has_several_runs = len({column.run for column in columns}) > 1
    runs = [f" @ {column.run[:8]}" if has_several_runs else "" for column in columns]
    short = [f"{column.model.partition('?')[0]}{run}" for column, run in zip(columns, runs, strict=True)]
    full = [f"{column.model}{run}" for column, run in zip(columns, runs, strict=True)]
    labels = short if len(set(short)) == len(short) else full
    return [replace(column, label=label) for column, label in zip(columns, labels, strict=True)]


def _columns(run: LoadedRun) -> list[Column]:
    results = run.results
    columns = []
    for release in results.release:
        model = release.model
        if not model:  # thresholds that were never judged, whose model is not known
            continue
        # A threshold that was not judged counts as missing in this column.
        rows = [row for row in results.thresholds if row.model == model and row.verdict != NOT_JUDGED]
        columns.append(
            Column(
                model,
                model,
                results.run.id,
                results.run.started,
                release,
                {line.suite: line.mark for line in results.marks if line.model == model and line.suite is not None},
                dict(zip(_tests([row.id for row in rows]), rows, strict=True)),
                run.influences,
            )
        )
    return columns


def _tests(ids: Sequence[str]) -> list[str]:
    """Return the ids of one model's tests without the model: the parameters that all of them share.

    >>> _tests(["a.py::test_x[openai:gpt]", "a.py::test_y[openai:gpt-young]", "a.py::test_z"])
    ['a.py::test_x', 'a.py::test_y[young]', 'a.py::test_z']
    >>> _tests(["a.py::test_y[old-openai:gpt]", "a.py::test_y[young-openai:gpt]"])
    ['a.py::test_y[old]', 'a.py::test_y[young]']
    """
    split = [test.partition("[") for test in ids]
    parameters = [tail.removesuffix("]").split("-") for _, bracket, tail in split if bracket]
    first = _common_prefix(parameters)
    last = 0 if first else _common_prefix([parts[::-1] for parts in parameters])
    names = []
    for name, bracket, tail in split:
        parts = tail.removesuffix("]").split("-") if bracket else []
        remaining = "-".join(parts[first : len(parts) - last])
        names.append(f"{name}[{remaining}]" if remaining else name)
    return names


def _common_prefix(lists: Sequence[Sequence[str]]) -> int:
    """Return the length of the common prefix of lists."""
    return sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, zip(*lists, strict=False)))
