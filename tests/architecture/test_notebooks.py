"""Notebooks of the documentation run, and show what they print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import notebooks


def test_there_are_three_notebooks() -> None:
    assert len(notebooks.NOTEBOOKS) == 3


@pytest.mark.slow
@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_shows_what_its_cells_print(path: Path) -> None:
    """Compare with the outputs in the file; `python -m tests.helpers.notebooks` writes them."""
    content = notebooks.read(path)
    for cell, outputs in zip(notebooks.code_cells(content), notebooks.run(content), strict=True):
        assert notebooks.texts(outputs) == notebooks.texts(cell["outputs"]), "".join(cell["source"])


@pytest.mark.parametrize("path", notebooks.NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_of_the_format_that_jupyter_reads(path: Path) -> None:
    content = notebooks.read(path)
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    ids = [cell["id"] for cell in content["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(set(cell) >= {"cell_type", "id", "metadata", "source"} for cell in content["cells"])


def test_page_on_tables_runs_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        f"{number},{group},{model},{number % 3 > 0},{number % 7 + 1},{number % 5 == 0},{number % 5 < 3}"
        for number in range(70)
        for group in "ab"
        for model in ("old", "new")
    ]
    head = "question,group,model,hired,rating,biased,answered"
    (tmp_path / "answers.csv").write_text("\n".join([head, *rows]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    page = notebooks.FOLDER.with_name("tables.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        exec(block, names)  # noqa: S102 - of our own documentation
    assert names["ratio"].value == 1.0
    assert names["measured"].attempts == 140
