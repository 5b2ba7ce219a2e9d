"""A table of recorded scores as a probe: thresholds judge it like a run, without model calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import Answer, Grade
from pytest_fairness.core.calls import explains_construction
from pytest_fairness.core.digests import digest
from pytest_fairness.core.errors import FairnessError, PermanentError, did_you_mean
from pytest_fairness.core.finish_reasons import ERROR, STOP, TOOL_CALLS
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.json_objects import finite_value, is_number
from pytest_fairness.core.model_names import RECORDED
from pytest_fairness.core.protocols import Grader
from pytest_fairness.core.tool_calls import ToolCall
from pytest_fairness.core.tools import Tool, calls_from_json, read_tools
from pytest_fairness.core.written_numbers import plain_number
from pytest_fairness.stats import table_columns, table_reader
from pytest_fairness.stats.table_reader import ExtremesOf
from pytest_fairness.tables.recorded_answers import ACTIONS, ANSWER, FINISH_REASON, MESSAGES, SERVED_BY, TEXTS, UNGRADED

Scores = Mapping[str, Any]
"""The grades of one row, by column."""
LATENCY = "latency"
"""The column with the seconds until an answer was there."""
_CHAT_ROLES = ("system", "user", "assistant")
_SHOWN = 3
"""Columns that a message shows."""


@explains_construction
class RecordedTable:
    """A file of recorded scores, one row an answer, as a probe whose model is the file itself.

    Args:
        path: The table: CSV, TSV, JSONL or Parquet, such as ``pytest-fairness import`` writes.
        item: The column of the question: intervals cluster by it.
        groups: The columns of protected attributes.
        source: The column of templates, where several items share one: intervals then cluster by it.
        grades: The columns that are grades; default: all whose values are numbers, or true or false. The other columns
            are for slices (``where``). Empty cells are ungraded.
        extremes: The lowest and the highest value of a grade that has others than 0 to 1, ``{"rating": (1, 7)}``, or a
            function of a row's prompt. Without them ratings that are all 1 are read as events, and an ungraded one
            makes a threshold *invalid*.
        model: The name of the model that has answered, as reports show it; default: the value of ``select``, if it
            has one.
        graders: Graders by grade, such as `Refusal` or `CalledTool`. They read the texts in the column ``answer``, the
            calls of tools in ``actions``, the request in ``messages``, ``finish_reason``, ``served_by``, and the
            seconds in ``latency``, as far as the table has these. A row without an answer is ungraded; for graders of
            calls alone, one without calls.
        tools: The tools that the model was offered, by name, or as `Tool` objects; default: those in ``actions``.
        select: The rows that are judged, by the value of a column: ``{"model": "gpt-5-mini"}``. A table with the
            answers of several models is refused without.

    The file is read when it is first used. Fields of nested objects are columns: ``decision.advance``.

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
        extremes: Mapping[str, ExtremesOf] | None = None,
        model: str | None = None,
        graders: Mapping[str, Grader] | None = None,
        tools: Sequence[str | Tool] = (),
        select: Mapping[str, Any] | None = None,
    ) -> None:
        if isinstance(groups, str) or isinstance(grades, str):
            raise FairnessError("groups and grades are lists of columns: write groups=['gender']")
        self.path = Path(path)
        self._scores: dict[str, Scores] = {}
        self._reasons: dict[str, str] = {}
        self._answers: dict[str, Answer] = {}
        self._select = dict(select or {})
        selected = next((value for name, value in self._select.items() if table_columns.names_model(name)), "answers")
        self.model = RecordedModel(f"{RECORDED}{model or selected}", self._answers)
        self._graders = dict(graders or {})
        self._reads_texts = any(getattr(grader, "reads_texts", True) for grader in self._graders.values())
        self._tools = read_tools([Tool(tool) if isinstance(tool, str) else tool for tool in tools]) if tools else None
        self._item, self._source = item, source
        self._groups = list(groups)
        self._grades = None if grades is None else list(grades)
        table_reader.read_extremes(extremes)
        self._extremes = dict(extremes or {})

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of a probe's mark."""
        try:
            grade: dict[str, Grader] = {
                name: RecordedScore(name, self._scores, self._answers, self._extremes.get(name), self._reasons)
                for name in self.grades
            }
        except FairnessError:  # the probe's only test reports it
            grade = {}
        grade |= self._graders
        grade = grade or {"score": RecordedScore("score", self._scores, self._answers)}
        return {"items": self.items, "grade": grade, "literal": True}  # what was asked is in the table

    @cached_property
    def rows(self) -> list[tuple[int, Mapping[str, Any]]]:
        """The selected rows of the table, each with its number, from 1.

        Raises:
            FairnessError: The file cannot be read, has no row, a row lacks a column, or the answers are of several
                models.
        """
        columns = [self._item, *self._groups, *filter(None, [self._source])]
        if self._item in self._groups:
            raise FairnessError(f"{self._item!r} is the item and a group: an item would have one group only")
        rows = list(table_reader.read_columns(self.path, [*columns, *self._select]))
        if not rows:
            raise FairnessError(
                f"{self.path} has no rows: its first line names the columns, such as {', '.join(columns)}, and each "
                "further line is an answer"
            )
        selected = table_columns.select_rows(rows, self._select, str(self.path))
        for number, row in selected:
            for name in (*columns, *(self._grades or ())):
                if name not in row:
                    raise FairnessError(
                        f"{self.path}, row {number}: no column {name!r}; {did_you_mean(name, map(str, row))}"
                    )
            if table_columns.is_missing(row[self._item]):
                raise FairnessError(f"{self.path}, row {number}: its {self._item} is empty")
        needed = ANSWER if self._reads_texts else ACTIONS
        if self._graders and not any(name in row for _, row in selected for name in (ANSWER, needed)):
            what = "the texts of answers" if self._reads_texts else "calls of tools"
            raise FairnessError(f"{self.path} has no column {needed!r}, from which its graders read {what}")
        if clash := self._graders.keys() & set(self._grades or ()):
            raise FairnessError(f"{min(clash)!r} is a grader and a column of `grades`: rename the grader")
        roles = [*filter(None, [self._source]), *(self._grades or ()), *(TEXTS if self._graders else ())]
        table_columns.refuse_models([row for _, row in selected], self._item, self._groups, roles, f"{self.path} has")
        return selected

    @cached_property
    def grades(self) -> list[str]:
        """The columns that are grades.

        Raises:
            FairnessError: As for `rows`, and where there is none, or one of numbers holds a text.
        """
        grades = self._number_columns() if self._grades is None else self._grades
        if unknown := self._extremes.keys() - set(grades):
            name = min(unknown)
            raise FairnessError(f"extremes of {name!r}: no grade has that name; {did_you_mean(name, grades)}")
        return grades

    def _number_columns(self) -> list[str]:
        """Return the columns whose values are numbers, or true or false."""
        grades: list[str] = []
        roles = {*self._roles, *self._graders}
        for name in table_columns.columns_of(row for _, row in self.rows):
            if name in roles or name in self._failures:
                continue
            cells = [(number, row.get(name)) for number, row in self.rows]
            texts = [(number, value) for number, value in cells if not _is_number(value)]
            if not texts:
                grades.append(name)
                continue
            numbers = sum(value is not None for _, value in cells) - len(texts)
            if numbers >= len(texts):
                raise FairnessError(
                    f"{self.path}, {self._no_number(name, *texts[0])} ({counted(len(texts), 'such row')} of "
                    f"{len(cells):,}); if {name} is no grade, name the others in `grades`"
                )
        if not grades and not self._graders:
            raise FairnessError(
                f"{self.path} has no column of numbers, or of true and false, besides those of items and groups"
                f"{self._first_texts()}: write what is judged as a number, or as true or false"
            )
        return grades

    def _no_number(self, name: str, number: int, value: Any) -> str:
        plain = plain_number(str(value))
        return (
            f"row {number}: its {name} is {value!r:.60}, which is no number: write it as "
            f"{plain or '1234.5 or true'}, and leave the field empty if the answer was not graded"
        )

    def _first_texts(self) -> str:
        """Return what stands in the columns that could be meant as grades, for a message."""
        number, row = self.rows[0]
        shown = [
            f"{name} is {value!r:.40}" for name, value in row.items() if name not in self._roles and value is not None
        ]
        return f" (row {number}: {', '.join(shown[:_SHOWN])})" if shown else ""

    def explain_no_grade(self, name: str) -> str:
        """Return why a column is no grade; empty for a name that is no column."""
        texts = [(number, row[name]) for number, row in self.rows if not _is_number(row.get(name))]
        if self._grades is not None:
            return "it is not among `grades`" if any(name in row for _, row in self.rows) else ""
        return self._no_number(name, *texts[0]) if texts else ""

    @property
    def _roles(self) -> set[str | None]:
        """The columns that are neither grades nor slices."""
        texts = TEXTS if self._graders else ()
        read = (table_columns.EPOCH, ACTIONS, *texts, *self._reason_column)
        return {self._item, self._source, *self._groups, *self._select, *read}

    @cached_property
    def _reason_column(self) -> tuple[str, ...]:
        """The column with the reasons of ungraded rows, as imports write it; nothing where there is none."""
        values = [row[UNGRADED] for _, row in self.rows if row.get(UNGRADED) is not None]
        is_role = UNGRADED in (self._item, self._source, *self._groups, *(self._grades or ()))
        return (UNGRADED,) if values and not is_role and all(isinstance(value, str) for value in values) else ()

    @cached_property
    def _failures(self) -> list[str]:
        """The columns that say why a row has no grade, though it may hold the number of one."""
        return table_columns.failure_columns([row for _, row in self.rows], self._roles | set(self._grades or ()))

    @cached_property
    def values(self) -> dict[str, dict[str, list[str]]]:
        """The values of each group, and of each column for slices, against which names in thresholds are checked."""
        names = table_columns.columns_of(row for _, row in self.rows)
        others = [name for name in names if name not in {*(self._roles - {table_columns.EPOCH}), *self.grades}]
        return {"groups": self._texts_of(self._groups), "slices": self._texts_of(others)}

    def _texts_of(self, names: Iterable[str]) -> dict[str, list[str]]:
        texts = {
            name: list(dict.fromkeys(str(row[name]) for _, row in self.rows if _is_slice(row.get(name))))
            for name in names
        }
        return {name: values for name, values in texts.items() if values or name in self._groups}

    def items(self) -> Iterable[ProbeItem]:
        """Return an item for each value of the item's column, with a prompt for each of its rows.

        Raises:
            FairnessError: As for `rows` and `grades`, and where an item has two sources.
        """
        grades = set(self.grades)
        prompts: dict[str, list[Prompt]] = {}
        sources: dict[str, str | None] = {}
        for number, row in self.rows:
            item = str(row[self._item])
            has_source = self._source is not None and not table_columns.is_missing(row[self._source])
            source = str(row[self._source]) if has_source else None  # type: ignore[index]
            if sources.setdefault(item, source) != source:
                raise FairnessError(f"{self.path}, row {number}: {item!r} has another {self._source} than before")
            prompts.setdefault(item, []).append(self._prompt(number, row, item, grades))
        return [ProbeItem(item, rows, sources[item], _shared_metadata(rows)) for item, rows in prompts.items()]

    def _prompt(self, number: int, row: Mapping[str, Any], item: str, grades: set[str]) -> Prompt:
        failure = table_columns.failure_in(row, self._failures)
        scores = {name: None if failure else _json_value(row.get(name)) for name in self.grades}
        groups = table_reader.groups_of(row, self._groups, f"{self.path}, row {number}")
        roles = {*(self._roles - {table_columns.EPOCH}), *grades}
        slices = {name: value for name, value in row.items() if name not in roles and _is_slice(value)}
        reason = failure or (str(row.get(UNGRADED) or "") if self._reason_column else "")
        is_failed = bool(failure)
        answer = Answer(_as_json(scores))
        if self._graders:
            answer = self._read_answer(number, row, reason, is_failed=is_failed)
        # Stored answers are found by their prompt: a row that changes must be another prompt.
        recorded = [scores, answer.text, [call.to_json() for call in answer.actions]] if self._graders else scores
        name = f"{item}: row {number} of {self.path.name} ({digest(_as_json(recorded))[:12]})"
        self._scores[name], self._answers[name] = scores, answer
        if reason:
            self._reasons[name] = reason
        messages = self._read_messages(number, row) if self._graders else []
        opening = [{"role": "system", "content": name}] if messages else [{"role": "user", "content": name}]
        return Prompt([*opening, *messages], groups, slices, tools=self._offered if self._graders else ())

    def _read_answer(self, number: int, row: Mapping[str, Any], reason: str, *, is_failed: bool) -> Answer:
        """Return the answer of a row; its finish reason is an error where it has none, and its text why."""
        text = _json_value(row.get(ANSWER))
        calls = self._calls[number]
        if is_failed or (table_columns.is_missing(text) and (self._reads_texts or not calls)):
            return Answer(reason, ERROR)
        seconds = _json_value(row.get(LATENCY))
        latency = float(seconds) if is_number(seconds) and seconds > 0 else 0.0
        if text is None:
            uncalled = [ToolCall(call.name, call.arguments) for call in calls or ()]
            return Answer("", TOOL_CALLS, latency=latency, actions=uncalled)
        if not isinstance(text, str):
            raise FairnessError(f"{self.path}, row {number}: its {ANSWER} is {text!r:.60}: write a text")
        finish, served_by = (_json_value(row.get(name)) for name in (FINISH_REASON, SERVED_BY))
        served_by = None if table_columns.is_missing(served_by) else str(served_by)
        return Answer(text, str(finish or STOP), latency=latency, served_by=served_by, actions=calls or ())

    def _read_messages(self, number: int, row: Mapping[str, Any]) -> list[dict[str, str]]:
        """Return the messages of a row, given as a list or its JSON, without tools and calls; empty without any."""
        cell = _json_value(row.get(MESSAGES))
        try:
            messages = json.loads(cell) if isinstance(cell, str) and cell else cell or []
            plain = [
                {"role": message["role"], "content": message["content"]}
                for message in messages
                if message["role"] in _CHAT_ROLES and message["content"]
            ]
        except (ValueError, TypeError, KeyError):
            raise FairnessError(
                f"{self.path}, row {number}: its {MESSAGES} are {cell!r:.80}: write a list of messages, with role and "
                "content"
            ) from None
        return plain if plain and plain[-1]["role"] == "user" else []

    @cached_property
    def _calls(self) -> dict[int, Sequence[ToolCall] | None]:
        """The calls of each row by its number; None where the table does not state them."""
        return {number: self._read_calls(number, row.get(ACTIONS)) for number, row in self.rows}

    @property
    def tool_names(self) -> list[str]:
        """The names of the tools that the model was offered: as declared, or those that the rows call."""
        if self._tools is not None:
            return [tool.name for tool in self._tools]
        return list(dict.fromkeys(call.name for calls in self._calls.values() for call in calls or ()))

    @cached_property
    def _offered(self) -> Sequence[Tool]:
        names = self.tool_names
        return self._tools or (read_tools([Tool(name) for name in names]) if names else ())

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

    def __init__(self, name: str, answers: Mapping[str, Answer]) -> None:
        self.name = self.key = name
        self._answers = answers

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        """Return the answer of a row. Raises `PermanentError` for another prompt, and for a repetition."""
        if repetition:
            raise PermanentError(f"{self.name}: a row of a table is one answer: leave --fairness-repetitions out")
        answer = self._answers.get(_row_name(prompt))
        if answer is None:
            raise PermanentError(f"{self.name} has answered the rows of a table, and was asked {prompt.text!r:.80}")
        return answer

    async def close(self) -> None:
        """Do nothing: there is no connection to close."""


class RecordedScore:
    """The grade that a row of a table has in one column.

    Args:
        column: The column.
        scores: The scores of each row, by its name: the first message of its prompt.
        answers: The answers of the rows, by their names.
        extremes: The values that an ungraded row could have had, or a function of its prompt; None where that is not
            known.
        reasons: Why rows are ungraded, by the name of the row, where the table says so.
    """

    accepts = ("tool_calls", "truncated", "filter", "refusal", "error")

    def __init__(
        self,
        column: str,
        scores: Mapping[str, Scores],
        answers: Mapping[str, Answer],
        extremes: ExtremesOf | None = None,
        reasons: Mapping[str, str] | None = None,
    ) -> None:
        self.column, self._scores, self._answers = column, scores, answers
        self._reasons = {} if reasons is None else reasons  # which may still be empty, and is shared
        self.fingerprint = f"RecordedScore({column!r}) v1"
        if callable(extremes):
            self.extremes_for = extremes
        elif extremes is not None:
            self.extremes = tuple(extremes)

    def grade(self, prompt: Prompt, answer: Answer) -> Grade:
        """Return the score; ungraded where the table has none, and for an answer of another model."""
        row = _row_name(prompt)
        scores, recorded = self._scores[row], self._answers[row]
        if (answer.text, list(answer.actions)) != (recorded.text, list(recorded.actions)):
            return Grade.none("error", "the answer is no row of the table: its model is RecordedTable.model")
        value = scores[self.column]
        if value is None:
            return Grade.none("unparsed", self._reasons.get(row, "no number in the table"))
        return Grade(value)


def _row_name(prompt: Prompt) -> str:
    """Return the name of a row, which is the first message of its prompt."""
    return prompt.conversation[0]["content"]


def _shared_metadata(prompts: Sequence[Prompt]) -> dict[str, Any]:
    """Return the metadata that all prompts of an item share, by which an option may select items."""
    first, *others = (prompt.metadata for prompt in prompts)
    return {name: value for name, value in first.items() if all(other.get(name) == value for other in others)}


def _as_json(recorded: Any) -> str:
    return json.dumps(recorded, ensure_ascii=False, default=str)


def _json_value(value: Any) -> Any:
    """Return a value as a type of JSON; None for nan and infinities."""
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    return finite_value(float(value) if isinstance(value, Decimal) else value)


def _is_number(value: Any) -> bool:
    return isinstance(_json_value(value), bool | int | float | None)


def _is_slice(value: Any) -> bool:
    """Return whether a cell has a value by which rows can be selected: an object has one for each of its fields."""
    return not isinstance(value, Mapping) and not table_columns.is_missing(value)
