"""Templates of the page, compiled once for all runs."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import jinja2
import pytest

from pytest_fairness.report.html import rendering
from pytest_fairness.report.html.page import page
from tests.helpers import report_views


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder for temporary files, of processes that keep what they compile."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    rendering._environment.cache_clear()
    yield tmp_path
    rendering._environment.cache_clear()


def refuse(*_: object) -> None:
    raise AssertionError("compiled again")


def test_second_process_compiles_no_template(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view = report_views.view([report_views.row("unfair")])
    first = page(view)
    assert list(temporary.rglob("pytest-fairness-*.cache"))
    rendering._environment.cache_clear()
    monkeypatch.setattr(jinja2.Environment, "_generate", refuse)
    assert page(view) == first


@pytest.mark.parametrize("obstacle", ["no-folder", "full-disk", "no-bytecode"])
def test_page_is_made_where_no_template_can_be_kept(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, obstacle: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    if obstacle == "no-folder":
        monkeypatch.setattr(tempfile, "tempdir", str(temporary / "gone"))
    elif obstacle == "full-disk":
        monkeypatch.setattr(tempfile, "NamedTemporaryFile", fail)
    else:
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert page(report_views.view([report_views.row("unfair")])).startswith("<!doctype html>")
    assert not list(temporary.rglob("pytest-fairness-*.cache"))
