"""Declarations of thresholds on a recorded table."""

from __future__ import annotations

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.declarative.data import AllowedFolders
from pytest_fairness.declarative.expressions import ProbeVocabulary
from pytest_fairness.declarative.source import LocatedValue
from pytest_fairness.imports.recorded_table import RecordedTable

_OF_PROMPTS = (
    *("template", "system", "language", "vary", "draw", "items", "choices", "tools", "grade"),
    *("repetitions", "calibration"),
)
"""The fields of a declaration that do not apply to a recorded table."""


def read_table(document: LocatedValue, folders: AllowedFolders) -> RecordedTable:
    """Return the table that a declaration names.

    Raises:
        DeclarationError: The file cannot be read, lacks a column, or the declaration has fields about prompts.
    """
    for name in _OF_PROMPTS:
        if node := document.get(name):
            raise node.key_error(f"a recorded table has no {name!r}: what was asked and graded is in the table")
    declared = document.value["table"]
    fields = declared.value
    lists = {name: [child.text for child in fields[name].value] for name in ("groups", "grades") if name in fields}
    texts = {name: fields[name].text for name in ("item", "source", "model") if name in fields}
    extremes = fields["extremes"].plain if "extremes" in fields else None
    options = {"item": "sample", **texts, **lists, "extremes": extremes}
    table = RecordedTable(folders.path(fields["file"]), **options)
    try:
        table.items()
    except FairnessError as error:
        raise declared.error(str(error)) from None
    except OSError as error:
        raise fields["file"].error(f"it cannot be read: {error.strerror}") from None
    return table


def vocabulary_of(table: RecordedTable) -> ProbeVocabulary:
    """Return the names that thresholds on a table may use."""
    return ProbeVocabulary(dict.fromkeys(table.grades), table.values["groups"], table.values["slices"])
