"""Names of modules in the pages for contributors: each exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULE = re.compile(r"`((?:[a-z_]+/)+(?:[a-z_]+\.py)?)`")


def test_pages_name_modules() -> None:
    assert len(MODULE.findall((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))) > 20


@pytest.mark.parametrize(
    "page", sorted(page.relative_to(ROOT).as_posix() for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
)
def test_named_modules_exist(page: str) -> None:
    modules = MODULE.findall((ROOT / page).read_text(encoding="utf-8"))
    missing = [name for name in modules if not any((root / name).exists() for root in (ROOT, ROOT / "pytest_fairness"))]
    assert missing == []
