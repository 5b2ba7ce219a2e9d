"""The attempts of a run as a table in a file, for other tools."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.attempts import GradedAttempt, value_or_none
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted
from pytest_fairness.core.output_files import partial_file, refuse_others
from pytest_fairness.report.exports.exporter import Exporter, RunReference
from pytest_fairness.report.view import View
from pytest_fairness.store.samples import StoredSample

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped]

ROW_GROUP = 5000
"""The number of attempts that are in memory as a table at a time."""

_TEXTS = ("run", "suite", "probe", "model", "item", "source")
_DETAILS = (
    *("messages", "item_metadata", "prompt_metadata", "key", "answer", "reasoning", "actions"),
    *("finish_reason", "served_by", "error"),
)
_INTEGERS = ("repetition", "tokens_input", "tokens_output", "tokens_reasoning")


def write_parquet(view: View, path: Path) -> int:
    """Write every attempt of a run, one row each; return their number. The columns are in docs/outputs.md.

    A grade is a column ``grade_<name>``: true and false or numbers where all its values are, else
    text; null where ungraded, with the reason in ``ungraded_<name>``. A protected attribute is a column
    ``group_<name>``. `pytest_fairness.Measured.from_table` reads it back, one probe and model at a time::

        Measured.from_table("attempts.parquet", item="item", groups=["group_gender"], source="source")

    The file is written whole or not at all, `ROW_GROUP` attempts at a time. Texts are unchanged,
    hidden characters included; only lone surrogates are written as escapes.

    Raises `FairnessError`, in one line, without pyarrow and where the file cannot be written.
    """
    try:
        import pyarrow
        from pyarrow.parquet import ParquetWriter  # type: ignore[import-untyped]
    except ImportError:
        raise FairnessError(f"writing {path} needs pyarrow: pip install './pytest-fairness[parquet]'") from None
    refuse_others(path, "PAR1")
    schema = _schema(view)
    rows = _rows(view, schema)
    count = 0
    try:
        with partial_file(path) as partial, ParquetWriter(partial, schema, compression="zstd") as writer:
            while batch := list(islice(rows, ROW_GROUP)):
                writer.write_table(pyarrow.Table.from_pylist(batch, schema))
                count += len(batch)
    except OSError as error:
        raise FairnessError(f"the attempts cannot be written to {path}: {error.strerror or error}") from None
    return count


def _schema(view: View) -> pyarrow.Schema:
    import pyarrow

    text = pyarrow.string()
    attributes = sorted({name for sample in view.samples for _, prompt in sample.prompts for name in prompt.groups})
    fields = [(name, text) for name in _TEXTS]
    fields += [(f"group_{_clean(name)}", text) for name in attributes]
    fields += [(name, pyarrow.int64()) for name in _INTEGERS]
    fields += [(name, text) for name in _DETAILS] + [("latency", pyarrow.float64()), ("from_store", pyarrow.bool_())]
    for name, kind in _kinds(view.samples).items():
        column = {"flag": pyarrow.bool_(), "number": pyarrow.float64(), "text": text}[kind]
        fields += [(f"grade_{name}", column), (f"ungraded_{name}", text), (f"detail_{name}", text)]
    return pyarrow.schema(fields)


def _kinds(samples: Sequence[StoredSample]) -> dict[str, str]:
    """Return the kind of each grade's values over all samples: ``flag``, ``number`` or ``text``."""
    kinds_by_grade: dict[str, set[str]] = {}
    for sample in samples:
        for graded in sample.attempts:
            for name, grade in graded.grades.items():
                kinds = kinds_by_grade.setdefault(_clean(name), set())
                if grade.ungraded is None:
                    kinds.add(_kind(grade.value))
    return {name: kinds.pop() if len(kinds) == 1 else "text" for name, kinds in sorted(kinds_by_grade.items())}


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "flag"
    return "number" if isinstance(value, int | float) else "text"


def _rows(view: View, schema: pyarrow.Schema) -> Iterator[dict[str, Any]]:
    """Yield each attempt; a column that it lacks is null."""
    texts = {field.name for field in schema if str(field.type) == "string"}
    suites = {threshold.row.probe: threshold.row.suite for threshold in view.thresholds}
    run = view.results.run.id
    for sample in view.samples:
        fixed = {"run": run, "suite": suites.get(sample.probe), "probe": sample.probe, "model": sample.model}
        for graded in sample.attempts:
            row = {**fixed, **_attempt(graded), **_grades(graded)}
            yield {name: _text(value) if name in texts else value for name, value in row.items() if value is not None}


def _attempt(graded: GradedAttempt) -> dict[str, Any]:
    item, prompt, attempt = graded.item, graded.prompt, graded.attempt
    row: dict[str, Any] = {f"group_{_clean(name)}": group for name, group in prompt.groups.items()}
    row |= {
        "item": item.id,
        "source": item.source,
        "item_metadata": _json(item.metadata),
        "prompt_metadata": _json(prompt.metadata),
        "messages": _json(list(prompt.messages)),
        "key": attempt.key,
        "repetition": attempt.repetition,
        "error": attempt.error,
        "from_store": attempt.from_store,
    }
    if (answer := attempt.answer) is not None:
        row |= {f"tokens_{kind}": count for kind, count in answer.usage.items()}
        row |= {"answer": answer.text, "reasoning": answer.reasoning, "finish_reason": answer.finish_reason}
        row |= {"actions": _json([call.to_json() for call in answer.actions]) if answer.actions else None}
        row |= {"latency": answer.latency, "served_by": answer.served_by}
    return row


def _grades(graded: GradedAttempt) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, grade in graded.grades.items():
        name = _clean(name)
        row |= {
            f"grade_{name}": value_or_none(grade),
            f"ungraded_{name}": grade.ungraded,
            f"detail_{name}": grade.detail or None,
        }
    return row


def _text(value: Any) -> str:
    return _clean(value if isinstance(value, str) else _json(value))


def _json(value: Any) -> str:
    return json.dumps(value, default=lambda other: dict(other) if hasattr(other, "keys") else str(other))


def _clean(text: str) -> str:
    """Return a text with lone surrogates, which UTF-8 cannot encode, as escapes."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class ParquetExport(Exporter):
    """The export ``parquet``."""

    help = "every attempt with its grades, as Parquet"
    out = "the Parquet file to write"

    def export(self, run: RunReference, out: Path, arguments: Namespace) -> str:  # noqa: ARG002 - none of its own
        return f"{counted(write_parquet(run.read(), out), 'attempt')} written to {out}"
