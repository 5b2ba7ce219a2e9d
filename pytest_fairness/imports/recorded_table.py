"""A table of recorded scores as a probe: thresholds judge it like a run, without model calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError, PermanentError, did_you_mean
from pytest_fairness.core.finish_reasons import ERROR, STOP, TOOL_CALLS
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.json_objects import finite_value
from pytest_fairness.core.protocols import Grader
from pytest_fairness.core.tool_calls import ToolCall
from pytest_fairness.core.tools import Tool, calls_from_json, read_tools
from pytest_fairness.imports.recorded_answers import ACTIONS, EPOCH
from pytest_fairness.stats import table_reader

Scores = Mapping[str, Any]
"""The grades of one row, by column."""


class RecordedTable:
    """A file of recorded scores, one row an answer, as a probe whose model is the file itself.

    Args:
        path: The table: CSV, TSV, JSONL or Parquet, such as ``pytest-fairness import`` writes.
        item: The column of the question: intervals cluster by it.
        groups: The columns of protected attributes.
        source: The column of templates, where several items share one: intervals then cluster by it.
        grades: The columns that are grades; default: all whose values are numbers, or true or false. The other columns
            are for slices (``where``). Empty cells are ungraded.
        extremes: The lowest and the highest value of a grade that has others than 0 to 1: ``{"rating": (1, 7)}``.
            Without them ratings that are all 1 are read as events, and an ungraded one makes a threshold *invalid*.
        model: The name of the model that has answered, as reports show it.
        actions: Graders of calls of tools by grade, such as `CalledTool`; the calls are in the column ``actions``.
        tools: The tools that the model was offered, by name, or as `Tool` objects; needed for ``actions``.

    The file is read when it is first used.

    >>> SCREENING = RecordedTable("screening.jsonl", item="sample", groups=["gender"], model="gpt-5-mini")
    >>> SCREENING.model.name
    'recorded:gpt-5-mini'

    In a suite ``@pytest.mark.probe(**SCREENING.arguments)``, with a fixture ``model`` that returns ``SCREENING.model``.

    Raises:
        FairnessError: ``groups`` is a text.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        item: str,
        groups: Sequence[str] = (),
        source: str | None = None,
        grades: Sequence[str] | None = None,
        extremes: Mapping[str, Sequence[float]] | None = None,
        model: str = "answers",
        actions: Mapping[str, Grader] | None = None,
        tools: Sequence[str | Tool] = (),
    ) -> None:
        if isinstance(groups, str) or isinstance(grades, str):
            raise FairnessError("groups and grades are lists of columns: write groups=['gender']")
        if actions and not tools:
            raise FairnessError("graders of actions need tools: name those that the model was offered")
        self.path = Path(path)
        self._scores: dict[str, Scores] = {}
        self._calls: dict[str, Sequence[ToolCall] | None] = {}
        self.model = RecordedModel(f"recorded:{model}", self._scores, self._calls)
        self._actions = dict(actions or {})
        self._tools = read_tools([Tool(tool) if isinstance(tool, str) else tool for tool in tools]) if tools else ()
        self._item, self._source = item, source
        self._groups = list(groups)
        self._grades = None if grades is None else list(grades)
        self._extremes = dict(extremes or {})

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of a probe's mark."""
        try:
            grade: dict[str, Grader] = {
                name: RecordedScore(name, self._scores, self._extremes.get(name)) for name in self.grades
            }
        except FairnessError:  # the probe's only test reports it
            grade = {}
        grade |= self._actions
        grade = grade or {"score": RecordedScore("score", self._scores)}
        return {"items": self.items, "grade": grade, "literal": True}  # what was asked is in the table

    @cached_property
    def rows(self) -> list[Mapping[str, Any]]:
        """The rows of the table.

        Raises:
            FairnessError: The file cannot be read, has no row, or a row lacks a column.
        """
        columns = [self._item, *self._groups, *filter(None, [self._source]), *([ACTIONS] if self._tools else [])]
        rows = list(table_reader.read(self.path, columns))
        if not rows:
            raise FairnessError(f"{self.path} has no rows")
        for number, row in enumerate(rows, 1):
            for name in (*columns, *(self._grades or ())):
                if name not in row:
                    raise FairnessError(
                        f"{self.path}, row {number}: no column {name!r}; {did_you_mean(name, map(str, row))}"
                    )
            if row[self._item] in (None, ""):
                raise FairnessError(f"{self.path}, row {number}: its {self._item} is empty")
        return rows

    @cached_property
    def grades(self) -> list[str]:
        """The columns that are grades.

        Raises:
            FairnessError: As for `rows`, and where there is none.
        """
        if self._grades is not None:
            return self._grades
        roles = {self._item, self._source, EPOCH, ACTIONS, *self._groups}
        names = dict.fromkeys(name for row in self.rows for name in row if name not in roles)
        grades = [name for name in names if all(_is_number(row.get(name)) for row in self.rows)]
        if not grades and not self._actions:
            raise FairnessError(f"{self.path} has no column of numbers, or of true and false: name its grades")
        if unknown := self._extremes.keys() - set(grades):
            name = min(unknown)
            raise FairnessError(f"extremes of {name!r}: no grade has that name; {did_you_mean(name, grades)}")
        return grades

    @cached_property
    def values(self) -> dict[str, dict[str, list[str]]]:
        """The values of each group, and of each column for slices, against which names in thresholds are checked."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        columns = [name for name in names if name not in (*self.grades, self._item, self._source, ACTIONS)]
        values_by_column = {
            name: dict.fromkeys(str(row[name]) for row in self.rows if row.get(name) is not None) for name in columns
        }
        return {
            "groups": {name: list(values) for name, values in values_by_column.items() if name in self._groups},
            "slices": {name: list(values) for name, values in values_by_column.items() if name not in self._groups},
        }

    def items(self) -> Iterable[ProbeItem]:
        """Return an item for each value of the item's column, with a prompt for each of its rows.

        Raises:
            FairnessError: As for `rows` and `grades`, and where an item has two sources.
        """
        grades = set(self.grades)
        prompts: dict[str, list[Prompt]] = {}
        sources: dict[str, str | None] = {}
        for number, row in enumerate(self.rows, 1):
            item = str(row[self._item])
            source = None if self._source is None or row[self._source] is None else str(row[self._source])
            if sources.setdefault(item, source) != source:
                raise FairnessError(f"{self.path}, row {number}: {item!r} has another {self._source} than before")
            prompts.setdefault(item, []).append(self._prompt(number, row, item, grades))
        return [ProbeItem(item, rows, sources[item], _shared_metadata(rows)) for item, rows in prompts.items()]

    def _prompt(self, number: int, row: Mapping[str, Any], item: str, grades: set[str]) -> Prompt:
        scores = {name: _json_value(row.get(name)) for name in self.grades}
        groups = table_reader.groups_of(row, self._groups, f"{self.path}, row {number}")
        roles = {*grades, *self._groups, self._item, self._source, ACTIONS}
        slices = {name: value for name, value in row.items() if name not in roles and value is not None}
        # Stored answers are found by their prompt: a row that changes must be another prompt.
        recorded = {**scores, ACTIONS: row[ACTIONS]} if self._tools else scores
        text = f"{item}: row {number} of {self.path.name} ({digest(_as_json(recorded))[:12]})"
        self._scores[text] = scores
        if self._tools:
            self._calls[text] = self._read_calls(number, row[ACTIONS])
        return Prompt(text, groups, slices, tools=self._tools)

    def _read_calls(self, number: int, cell: Any) -> Sequence[ToolCall] | None:
        """Return the tool calls in a row, given as a list or its JSON; None where the cell is empty."""
        if _json_value(cell) in (None, ""):
            return None
        try:
            return calls_from_json(json.loads(cell) if isinstance(cell, str) else cell)
        except (ValueError, FairnessError):
            raise FairnessError(
                f"{self.path}, row {number}: its {ACTIONS} are {cell!r:.80}: write a list of calls, with name and "
                "arguments"
            ) from None


class RecordedModel:
    """A model whose answers are the scores of a table's rows."""

    local = True
    stored = False
    """Whether its answers are kept in the store: the table holds them already."""

    calls_tools = True

    def __init__(self, name: str, scores: Mapping[str, Scores], calls: Mapping[str, Sequence[ToolCall] | None]) -> None:
        self.name = self.key = name
        self._scores, self._calls = scores, calls

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        """Return the scores of a row as JSON. Raises `PermanentError` for another prompt, and for a repetition."""
        if repetition:
            raise PermanentError(f"{self.name}: a row of a table is one answer: leave --fairness-repetitions out")
        scores = self._scores.get(prompt.text)
        if scores is None:
            raise PermanentError(f"{self.name} has answered the rows of a table, and was asked {prompt.text!r:.80}")
        calls = self._calls.get(prompt.text, ())
        finish = ERROR if calls is None else TOOL_CALLS if calls else STOP
        return Answer(_as_json(scores), finish, actions=calls or ())

    async def close(self) -> None:
        """Do nothing: there is no connection to close."""


class RecordedScore:
    """The grade that a row of a table has in one column.

    Args:
        column: The column.
        scores: The scores of each row, by the text of its prompt.
        extremes: The values that an ungraded row could have had; None where that is not known.
    """

    accepts = ("tool_calls",)

    def __init__(self, column: str, scores: Mapping[str, Scores], extremes: Sequence[float] | None = None) -> None:
        self.column, self._scores = column, scores
        self.fingerprint = f"RecordedScore({column!r}) v1"
        if extremes is not None:
            self.extremes = tuple(extremes)

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        """Return the score; ungraded where the table has none, and for an answer of another model."""
        scores = self._scores[prompt.text]
        if answer.text != _as_json(scores):
            return Grade.none("error", "the answer is no row of the table: its model is RecordedTable.model")
        value = scores[self.column]
        return Grade.none("unparsed", "no number in the table") if value is None else Grade(value)


def _shared_metadata(prompts: Sequence[Prompt]) -> dict[str, Any]:
    """Return the metadata that all prompts of an item share, by which an option may select items."""
    first, *others = (prompt.metadata for prompt in prompts)
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def _as_json(scores: Mapping[str, Any]) -> str:
    return json.dumps(scores, ensure_ascii=False, default=str)


def _json_value(value: Any) -> Any:
    """Return a value as a type of JSON; None for nan and infinities."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    return finite_value(value)


def _is_number(value: Any) -> bool:
    return isinstance(_json_value(value), bool | int | float | None)
