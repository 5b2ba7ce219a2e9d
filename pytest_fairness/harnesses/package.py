"""Packages of other harnesses: whether one is installed and new enough, its modules, and grades of its scores."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pytest_fairness import FairnessError, Grade
from pytest_fairness.extending import install, lasting_imports


def grade_of(value: Any) -> Grade:
    """Return the grade of a score, as one object for equal numbers and texts: a report reads each object once."""
    return Grade(value) if isinstance(value, list | dict) else _shared_grade(value)


@lru_cache(maxsize=256, typed=True)  # typed: 1 equals 1.0
def _shared_grade(value: float | str) -> Grade:
    return Grade(value)


def check_installed(package: str, extra: str, oldest: tuple[int, ...]) -> None:
    """Check that a package is installed and new enough.

    Args:
        package: Its name, as it is imported and installed.
        extra: The extra that installs it.
        oldest: The oldest version that can be read.

    Raises:
        FairnessError: It is missing or too old; the line names the command that installs it.
    """
    try:
        installed = version(package)
    except PackageNotFoundError:
        raise FairnessError(f"{package} is not installed: {install(extra)}") from None
    if tuple(map(int, re.findall(r"\d+", installed)[:3])) < oldest:
        needed = ".".join(map(str, oldest))
        raise FairnessError(
            f"{package} {installed} is too old, {needed} is the oldest that can be read: {install(extra)}"
        )


def module_of(
    package: str,
    name: str,
    extra: str,
    oldest: tuple[int, ...],
    undisturbed: Callable[[], AbstractContextManager[object]],
) -> Any:
    """Return a module of a package, imported within a block that keeps the import from changing the process.

    Args:
        package: The name of the package.
        name: The module's name within it.
        extra: The extra that installs the package.
        oldest: The oldest version that can be read.
        undisturbed: The block.

    Returns:
        The module.

    Raises:
        FairnessError: The package, or what it needs, is not installed.
    """
    full_name = f"{package}.{name}"
    if full_name in sys.modules:
        return sys.modules[full_name]
    check_installed(package, extra, oldest)
    with undisturbed(), lasting_imports():
        try:
            return import_module(full_name)
        except ImportError as error:
            raise FairnessError(f"{package} cannot be imported: {error}: {install(extra)}") from None
