"""Pauses of the garbage collector, where all objects live to the end of the process."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial

MANY_TESTS = 1_000
"""Number of tests from which later searches cost more than the full one of `search_rarely`."""

MANY_ATTEMPTS = 10_000
"""Number of attempts from which later searches of their objects cost more than the full one of `lasting_objects`."""

_FEWER = 10
"""Factor on the number of new objects after which they are searched: nearly all of them live on, as reports do."""


@contextmanager
def paused_collection() -> Iterator[None]:
    """Disable the collector within the block: over many rows of results it takes a tenth to a sixth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def lasting_objects(attempts: int) -> Iterator[None]:
    """Exclude the objects of very many attempts, which are made within the block, from later collections.

    They live to the end of a run, and each search would go through all of them. A full search comes first, so that no
    garbage is kept.
    """
    are_many = attempts >= MANY_ATTEMPTS
    if are_many:
        gc.collect()
    yield
    if are_many:
        gc.freeze()


@contextmanager
def lasting_imports() -> Iterator[None]:
    """Exclude modules that are imported within the block from collections: they live to the end of the process."""
    modules = len(sys.modules)
    with paused_collection():
        yield
    if len(sys.modules) > modules:
        gc.freeze()


def search_rarely(at_end: Callable[[Callable[[], None]], object]) -> None:
    """Search for garbage rarely until the end of a run of many tests: its objects live that long, and modules longer.

    Args:
        at_end: A function that is given another one, which restores the threshold, to call at the end of the run.
    """
    _keep_present_objects()
    young, *older = gc.get_threshold()
    gc.set_threshold(_FEWER * young, *older)
    at_end(partial(gc.set_threshold, young, *older))


@cache
def _keep_present_objects() -> None:
    """Exclude all present objects from later collections: modules and collected tests live to the end of the process.

    It runs once in a process: the objects of a further run in it, as in pytest's own tests, do not live so long. A full
    search comes first, so that no garbage is kept.
    """
    gc.collect()
    gc.freeze()
