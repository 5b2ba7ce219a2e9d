"""Notebooks of the documentation: run cell by cell, with what each cell prints; run this module to write their outputs.

A cell runs as in Jupyter: the value of its last line is shown. There is no kernel, so that a test takes seconds.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def read(notebook: Path) -> dict[str, Any]:
    """Return a notebook as the JSON that it is."""
    content: dict[str, Any] = json.loads(notebook.read_text(encoding="utf-8"))
    return content


def run(content: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Return the outputs of each code cell, which run in the notebook's folder."""
    import matplotlib

    matplotlib.use("Agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(FOLDER):
        return [_run_cell("".join(cell["source"]), names) for cell in code_cells(content)]


def code_cells(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells that hold code."""
    return [cell for cell in content["cells"] if cell["cell_type"] == "code"]


def texts(outputs: list[dict[str, Any]]) -> list[str]:
    """Return what a reader sees of outputs; of a picture, that it is one."""
    shown: list[str] = []
    for output in outputs:
        data = {"text/plain": output["text"]} if output["output_type"] == "stream" else output["data"]
        shown.append("a picture" if "image/png" in data else "".join(data.get("text/html", data["text/plain"])))
    return shown


def _run_cell(source: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    from matplotlib import pyplot

    tree = ast.parse(source)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        del tree.body[-1]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)  # noqa: S102 - of our own documentation
        value = (
            eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)  # noqa: S307
            if isinstance(last, ast.Expr)
            else None
        )
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None and not source.rstrip().endswith(";"):
        data = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = _lines(value._repr_html_())
        outputs.append({"output_type": "execute_result", "data": data, "metadata": {}})
    for number in pyplot.get_fignums():
        picture = io.BytesIO()
        pyplot.figure(number).savefig(picture, dpi=80, format="png", metadata={"Software": None})
        image = base64.b64encode(picture.getvalue()).decode()
        outputs.append({"output_type": "display_data", "data": {"image/png": image, "text/plain": ["<Figure>"]}})
        outputs[-1]["metadata"] = {}
    pyplot.close("all")
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def write(notebook: Path) -> None:
    """Write a notebook with the outputs of its cells."""
    content = read(notebook)
    for number, (cell, outputs) in enumerate(zip(code_cells(content), run(content), strict=True), 1):
        cell["execution_count"] = number
        for output in outputs:
            if output["output_type"] == "execute_result":
                output["execution_count"] = number
        cell["outputs"] = outputs
    notebook.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ["MPLBACKEND"] = "Agg"
    for path in NOTEBOOKS:
        write(path)
        sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")
