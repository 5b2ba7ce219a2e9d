"""The search for reference cycles, left out where all that is made lives to the end."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

MANY_TESTS = 1_000
"""Number of tests from which later searches cost more than the full one of `keep_present_objects`."""


@contextmanager
def paused_collection() -> Iterator[None]:
    """Leave the search out meanwhile: over many rows of results it takes a tenth to a sixth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def lasting_imports() -> Iterator[None]:
    """Leave what is imported meanwhile out of all searches: modules live to the end of the process."""
    modules = len(sys.modules)
    with paused_collection():
        yield
    if len(sys.modules) > modules:
        gc.freeze()


@cache
def keep_present_objects() -> None:
    """Leave what exists now out of all later searches: modules and collected tests live to the end of the process.

    Once in a process: of a further run within it, as pytest's own tests make them, the objects do not live so long.
    A full search comes first, so that no garbage is kept.
    """
    gc.collect()
    gc.freeze()
