"""The data folders of suites, as the user named them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_fairness.core.errors import FairnessError


class DataFolders:
    """The data of suites, as given by ``[tool.pytest-fairness.data]``.

    It is the argument ``data`` of item functions, and the fixture ``data_folders``. Tests of a suite construct it:

    >>> folders = DataFolders({"hiring": Path(), "bbq": "hub@0123abc"})
    >>> folders.folder("hiring") == Path(), folders.folder("bbq"), folders.hub("bbq"), folders.revision("bbq")
    (True, None, True, '0123abc')

    Args:
        folders: The folder of each suite, or ``"hub"`` or ``"hub@COMMIT"`` for its data set of the hub.
        offline: Whether downloads are forbidden.
    """

    def __init__(self, folders: Mapping[str, Path | str], *, offline: bool = False) -> None:
        self._folders = folders
        self.offline = offline
        """Whether downloads are forbidden: ``--fairness-offline``."""

    def folder(self, suite: str) -> Path | None:
        """Return the folder that the project gives a suite; None where none is given.

        Args:
            suite: The suite's name, or another name that it documents.

        Raises:
            FairnessError: The folder does not exist.
        """
        path = self._folders.get(suite)
        if not isinstance(path, Path):
            return None
        if not path.is_dir():
            raise FairnessError(f"[tool.pytest-fairness.data] {suite} is {path}: there is no such folder")
        return path

    def hub(self, suite: str) -> bool:
        """Return whether the suite's data set of the hub is selected: ``suite = "hub"``.

        Args:
            suite: The suite's name.
        """
        return isinstance(self._folders.get(suite), str)

    def revision(self, suite: str) -> str:
        """Return the commit of ``suite = "hub@COMMIT"``; empty where none is given.

        Args:
            suite: The suite's name.
        """
        location = self._folders.get(suite)
        return location.partition("@")[2] if isinstance(location, str) else ""
