"""Columns of a recorded table that say which model has answered, and the rows that are selected by a column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from pytest_fairness.core.errors import FairnessError, did_you_mean
from pytest_fairness.core.formatting import counted

Row = Mapping[str, Any]

EPOCH = "epoch"
"""The column of an answer's repetition, from 1, in a table that an import has written."""

STUDY_DESIGN = "study_design"
"""The column of how the rows of a table came about, as in the social sciences."""
OBSERVATIONAL = "observational"
"""The value of that column where nobody assigned groups to requests, as in the traffic of an application."""

_MODEL = frozenset(("model", "models", "llm", "llms", "modell", "modele", "modèle", "modelo", "modello"))
"""Words in the name of a column that holds models."""
_VERSIONS = frozenset(
    (
        *("provider", "engine", "deployment", "checkpoint", "assistant", "bot", "chatbot", "agent", "system"),
        *("version", "release", "arm", "served", "answered"),
    )
)
"""Words in the name of a column that holds models if one question is answered under several of its values."""
_NEUTRAL = frozenset(("name", "id", "slug", "key", "ai", "api", "eval", "target", "tested", "requested", "response"))
"""Words beside that of the model that do not change what it says."""
_OTHERS = frozenset(
    (
        *("judge", "grader", "evaluator", "scorer", "rater", "reviewer", "embedding", "embedder"),
        *("answer", "answers", "output", "outputs", "response", "responses", "reply", "replies", "text", "completion"),
        *("prediction", "predictions", "reasoning", "explanation", "prompt", "message", "messages", "actions"),
        *("score", "scores", "rating", "grade", "decision", "label", "confidence", "latency", "tokens", "cost", "time"),
    )
)
"""Words in the name of a column that says something else of a model, or names another one."""
_FAILURES = frozenset(("error", "errors", "exception", "traceback", "failed", "failure"))
"""Words in the name of a column that says why an answer, or its grade, is none."""
_GRADERS = frozenset(
    (
        *("judge", "grader", "evaluator", "scorer", "metric"),
        *("grading", "scoring", "evaluation", "eval", "parse", "parsing"),
    )
)
_ABOUT_FAILURES = _FAILURES | _GRADERS | {"message", "msg", "text", "reason", "request", "api", "model"}
"""Words in such a name: with any other it says something else, such as the kind of a model's errors."""
_MARKED = re.compile(r"\[ERROR\]|(?:\[invalid(?:answer)?\]|__invalid__)\s*$")
"""A text that evaluators write in place of an answer, or of a judgment that they could not read."""
_NO_FAILURES = frozenset(("", "none", "no", "false", "null", "nan", "n/a", "na", "0", "ok", "-", "[]", "{}", "<na>"))
_FAMILIES = (
    r"gpt|chatgpt|o[134]|claude|gemini|gemma|llama|mistral|mixtral|ministral|qwen|deepseek|command|grok|phi|olmo|falcon|"
    r"pythia|nova|titan|glm|kimi|granite|davinci"
)
_NAME = re.compile(
    rf"(?:[\w.-]+[:/])*(?:{_FAMILIES})[-_ .:]?[\w.:@-]*\d[\w.:@ -]*|"
    r"(?:openai|anthropic|azure|google|bedrock|ollama|vllm|together|mistral|cohere|groq|hf|huggingface)[:/]\S+",
    re.IGNORECASE,
)
"""A text that looks like the name of a language model."""
_LONGEST_NAME = 100
"""The most characters of a name with spaces: a longer one is an answer."""
_LARGEST = 2**53
"""The number from which on a float is not exact."""
_PROBED = 200
"""Rows on which a column is tried before all of it is read."""
_SHOWN = 5
"""Values that a message lists."""
SHARED = 0.5
"""The share of questions from which on they count as answered under several values of a column."""


def is_missing(value: Any) -> bool:
    """Return whether a cell is empty: None, NaN, NA or NaT of pandas, or a blank text.

    >>> [is_missing(value) for value in (None, float("nan"), " ", 0, False)]
    [True, True, True, False, False]
    """
    if isinstance(value, str):
        return not value.strip()
    if value is None or isinstance(value, bool | int | float):
        return value is None or value != value
    try:
        return bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # of NA, an array, and a signaling NaN of `decimal`
        return not hasattr(value, "__len__")


def spellings(value: Any) -> set[str]:
    """Return the texts that mean a value of a column: a truth or a number is written in several ways.

    >>> sorted(spellings(True)), sorted(spellings(20.0))
    (['True', 'true'], ['20', '20.0'])
    """
    text = str(value)
    if text.lower() in ("true", "false"):
        return {text, text.lower(), text.capitalize()}
    if isinstance(value, float) and value.is_integer():
        return {text, str(int(value))}
    return {text, str(float(value))} if isinstance(value, int) and abs(value) < _LARGEST else {text}


def select_rows(rows: Sequence[Row], select: Mapping[str, Any], where: str) -> list[tuple[int, Row]]:
    """Return the rows with a value in each of some columns, each with its number, from 1.

    Args:
        rows: All rows.
        select: The value by column.
        where: The name of the table, for messages.

    Raises:
        FairnessError: There is no such column, or no row has the value.
    """
    if not isinstance(select, Mapping):
        raise FairnessError(f"select is {select!r:.60}: give a value by column, as in {{'model': 'gpt-5-mini'}}")
    numbered = list(enumerate(rows, 1))
    for name, value in select.items():
        if not any(name in row for row in rows):
            names = map(str, columns_of(rows))
            raise FairnessError(f"{where}: select {name}: there is no such column; {did_you_mean(str(name), names)}")
        texts = {str(row[name]): row[name] for row in rows if not is_missing(row.get(name))}
        wanted = {text for text, cell in texts.items() if spellings(cell) & spellings(value)}
        if not wanted:
            raise FairnessError(f"{where}: select {name}={value}: no row has it; {did_you_mean(str(value), texts)}")
        numbered = [(number, row) for number, row in numbered if str(row.get(name)) in wanted]
    if not numbered and rows:
        raise FairnessError(f"{where}: select {dict(select)}: no row has all of these")
    return numbered


def refuse_models(rows: Sequence[Row], item: str, groups: Sequence[str], roles: Sequence[str], where: str) -> None:
    """Raise `FairnessError` for rows with answers of several models: a verdict would be on none of them.

    Args:
        rows: The rows.
        item: The column of the item.
        groups: The columns of groups, which may be models.
        roles: Further columns whose meaning is declared.
        where: The table and its verb, for the message: "the rows have".
    """
    for name in columns_of(rows):
        if name == item or name in groups or name in roles:
            continue
        values = models_in(name, rows, [item, *groups])
        if len(values) > 1:
            shown = ", ".join(
                f"{value!r:.60} ({counted(number, 'row')})" if value != "" else f"none ({counted(number, 'row')})"
                for value, number in values.most_common(_SHOWN)
            )
            more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
            raise FairnessError(
                f"{where} answers of {len(values)} models in the column {name!r}, {shown}{more}: name one by `select`, "
                f"as in {{{name}: {next(iter(values))}}}, or list {name!r} in `groups`"
            )


def names_model(name: Any) -> bool:
    """Return whether a column, by its name, says which model has answered.

    >>> [names_model(name) for name in ("model", "served_by", "judge_model", "gender")]
    [True, True, False, False]
    """
    words = words_of(str(name))
    return bool(words & (_MODEL | _VERSIONS)) and not words & _OTHERS


def models_in(name: Any, rows: Sequence[Row], cell: Sequence[str]) -> Counter[Any]:
    """Return the models that a column names, each with its number of rows; empty for a column of anything else.

    Args:
        name: The column.
        rows: The rows.
        cell: The column of a question, and those of its groups.
    """
    words = words_of(str(name))
    if words & _OTHERS:
        return Counter()
    own = words_of(str(name).rpartition(".")[2])
    if own & _MODEL and own <= _MODEL | _VERSIONS | _NEUTRAL:
        values = _values(name, rows)
        unnamed = len(rows) - values.total()
        return values + Counter({"": unnamed}) if values and unnamed else values
    if words & (_MODEL | _VERSIONS):  # a question may be about the model of a car, or have versions by group
        values = _values(name, rows)
        question = cell[:1] if words & _MODEL else cell
        return values if len(values) > 1 and repeats_questions(name, rows, question) else Counter()
    probed = [row.get(name) for row in rows[:: max(1, len(rows) // _PROBED)]]
    if not _are_model_names(value for value in probed if not is_missing(value)):
        return Counter()
    values = _values(name, rows)
    return values if _are_model_names(values) else Counter()


def failure_columns(rows: Sequence[Row], roles: Collection[Any]) -> list[Any]:
    """Return the columns that say of some rows why their grades are none; one that is filled in all of them does not.

    Args:
        rows: The rows.
        roles: The columns whose meaning is declared.
    """
    marked = {name for row in rows for name, value in row.items() if type(value) is str and _is_marked(value)}
    columns = [
        name for name in columns_of(rows) if name not in roles and (name in marked or _tells_failures(str(name)))
    ]
    return [name for name in columns if 0 < sum(bool(failure_in(row, [name])) for row in rows) < len(rows)]


def _tells_failures(name: str) -> bool:
    """Return whether a column, or the last field of a nested one, is called by a failure."""
    return any(
        own & _FAILURES and own <= _ABOUT_FAILURES for own in (words_of(name), words_of(name.rpartition(".")[2]))
    )


def _is_marked(value: Any) -> bool:
    return isinstance(value, str) and value[:1] in ("[", "_") and _MARKED.match(value) is not None


def failure_in(row: Row, columns: Iterable[Any]) -> str:
    """Return why the grades of a row are none: the text of an error, or that a grader failed; empty where they are.

    A text counts, in other columns a marked one. Of truths only those on a grader do: an answer itself may have failed.

    >>> failure_in({"error": "429 Too Many Requests", "ok": False}, ["error"])
    'error: 429 Too Many Requests'
    >>> failure_in({"scoring_failed": True}, ["scoring_failed"]), failure_in({"failed": True}, ["failed"])
    ('scoring_failed', '')
    """
    for name in columns:
        value = row.get(name)
        if not _tells_failures(str(name)) and not _is_marked(value):
            continue
        if value is True or (isinstance(value, str) and value.strip().lower() == "true"):
            if words_of(str(name)) & _GRADERS:
                return str(name)
        elif isinstance(value, str | list) and str(value).strip().lower() not in _NO_FAILURES:
            return f"{name}: {' '.join(str(value).split())[:_LONGEST_NAME]}"
    return ""


def repeats_questions(name: Any, rows: Sequence[Row], cell: Sequence[str]) -> bool:
    """Return whether most questions, each about one group, are answered under several values of a column."""
    values: dict[tuple[str, ...], set[str]] = {}
    for row in rows:
        if not is_missing(row.get(name)):
            values.setdefault(tuple(str(row.get(column)) for column in cell), set()).add(str(row[name]))
    return sum(len(answered) > 1 for answered in values.values()) > SHARED * len(values)


def columns_of(rows: Iterable[Row]) -> list[Any]:
    """Return the names of all columns that some row has."""
    names: dict[Any, None] = {}
    last: Any = None
    for row in rows:
        if row.keys() != last:
            last = row.keys()
            names |= dict.fromkeys(row)
    return list(names)


def words_of(name: str) -> set[str]:
    """Return the words of a column's name, in lower case.

    >>> sorted(words_of("candidate.modelName_2"))
    ['candidate', 'model', 'name']
    """
    return {word.lower() for word in re.findall(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])", name)}


def _values(name: Any, rows: Sequence[Row]) -> Counter[Any]:
    """Return the values of a column with their numbers; empty where they are no names."""
    values: Counter[Any] = Counter()
    for row in rows:
        value = row.get(name)
        if is_missing(value):
            continue
        if isinstance(value, Mapping) or (len(str(value)) > _LONGEST_NAME and " " in str(value)):
            return Counter()
        values[value if isinstance(value, str | int | float) else str(value)] += 1
    return values


def _are_model_names(values: Iterable[Any]) -> bool:
    texts = set(map(str, values))
    return len(texts) > 1 and all(_NAME.fullmatch(text.strip()) for text in texts)
