"""Modules that thresholds have imported, and that fixtures of other code remove.

A fixture with ``patch.dict(sys.modules)`` drops at its end all that was imported since its beginning. This package
imports what a threshold needs when it is needed, and numpy and scipy cannot be imported twice in one process.
"""

from __future__ import annotations

import sys
from types import ModuleType

_PACKAGES = frozenset(("numpy", "scipy", "pytest_fairness"))


class KeptModules:
    """The modules of numpy, scipy and this package that the thresholds of one process have imported."""

    def __init__(self) -> None:
        self._modules: dict[str, ModuleType] = {}

    def keep(self) -> None:
        """Record the modules at the end of a threshold's call, before its fixtures end."""
        self._modules = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in _PACKAGES}

    def restore(self) -> None:
        """Add the recorded modules that were removed, before the fixtures of the next threshold."""
        for name, module in self._modules.items():
            sys.modules.setdefault(name, module)
