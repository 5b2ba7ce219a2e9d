"""Results that other tools have recorded, as tables; a table as a probe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_fairness.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from pytest_fairness.tables.recorded_answers import RecordedAnswer, TableImporter
    from pytest_fairness.tables.recorded_table import RecordedTable
else:
    __getattr__, __dir__ = lazy_names(__name__, {
        "tables.recorded_answers": "RecordedAnswer TableImporter",
        "tables.recorded_table": "RecordedTable",
    })  # fmt: skip

__all__ = [
    "RecordedAnswer", "RecordedTable", "TableImporter",
]  # fmt: skip
