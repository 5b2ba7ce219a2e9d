"""The frozen design, and the student that it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_fairness.design import Frozen
from pytest_fairness.session.probes import DataFolders

from .items import check_torch, frozen_of

if TYPE_CHECKING:
    from pytest_fairness.design import Student
    from pytest_fairness.session.state import FairnessSession


@pytest.fixture(scope="session")
def frozen(fairness_session: FairnessSession) -> Frozen:
    """``design.json`` of the folder given for ``emotion``, or the suite's own."""
    check_torch()
    return frozen_of(DataFolders(fairness_session.settings.data))


@pytest.fixture(scope="session")
def student(frozen: Frozen) -> Student:
    """The student of the file. Override it with one of your own: anything with ``read``."""
    if frozen.student["kind"] == "model":
        pytest.skip("the student of this design is a language model: its gate is test_emotion.py")
    return frozen.made_student()
