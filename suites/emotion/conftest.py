"""The frozen design, and the student that it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_fairness import DataFolders
from pytest_fairness.design import Frozen

from .items import LANGUAGE_MODEL, check_torch, frozen_design

if TYPE_CHECKING:
    from pytest_fairness.design import Student


@pytest.fixture(scope="session")
def frozen(data_folders: DataFolders) -> Frozen:
    """Return ``design.json`` of the folder given for ``emotion``, or the suite's own."""
    check_torch()
    return frozen_design(data_folders)


@pytest.fixture(scope="session")
def student(frozen: Frozen) -> Student:
    """Return the student of the file. Override it with your own: anything with ``read``."""
    if frozen.student["kind"] == "model":
        pytest.skip(LANGUAGE_MODEL)
    return frozen.made_student()
