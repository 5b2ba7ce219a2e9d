"""Modules that this plugin has imported, and that other code removes.

A fixture with ``patch.dict(sys.modules)`` drops at its end all that was imported since its beginning, and so does a run
of pytest inside of another one (`pytester.inline_run`). This package imports what a threshold needs when it is needed,
and numpy and scipy cannot be imported twice in one process.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import ClassVar

_PACKAGES = frozenset(("numpy", "scipy", "pytest_fairness"))


class KeptModules:
    """The modules of numpy, scipy and this package that the runs of one process have imported."""

    _modules: ClassVar[dict[str, ModuleType]] = {}
    """Shared by all runs of the process, as `sys.modules` is."""

    def keep(self) -> None:
        """Record the modules of a start of this plugin, or of a threshold, before its fixtures end."""
        self._modules.update(item for item in sys.modules.copy().items() if item[0].partition(".")[0] in _PACKAGES)

    def restore(self) -> None:
        """Add the recorded modules that were removed, before the next run and the fixtures of the next threshold."""
        for name, module in self._modules.items():
            sys.modules.setdefault(name, module)
