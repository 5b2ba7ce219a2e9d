"""Packages of other harnesses that are missing or too old."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError
from types import ModuleType

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.harnesses import inspect_ai, lm_eval
from pytest_fairness.harnesses import package as harness_package


@pytest.mark.parametrize("harness", [inspect_ai, lm_eval])
@pytest.mark.parametrize(("installed", "line"), [("0.3.10", "0.3.10 is too old"), (None, "is not installed")])
def test_missing_or_old_package_is_named(
    monkeypatch: pytest.MonkeyPatch, harness: ModuleType, installed: str | None, line: str
) -> None:
    def version(_: str) -> str:
        if installed is None:
            raise PackageNotFoundError
        return installed

    monkeypatch.setattr(harness_package, "version", version)
    name = harness.__name__.rpartition(".")[2]
    with pytest.raises(FairnessError, match=f"^{name} {line}"):
        harness_package.check_installed(name, name, harness.package.OLDEST)
