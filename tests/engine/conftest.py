from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.engine.engine import Engine
from pytest_fairness.engine.retries import Retries
from pytest_fairness.store.store import Store

MakeEngine = Callable[..., Engine]


@pytest.fixture
def make_engine(tmp_path: Path) -> Iterator[MakeEngine]:
    """Yield a factory of engines on one store, each with its own owner, as processes have; close them at the end."""
    engines: list[Engine] = []
    stores: list[Store] = []

    def make(run: str = "run", session: str | None = None, **options: Any) -> Engine:
        store = Store(tmp_path / "store.sqlite", session)
        store.runs.start(run)
        stores.append(store)
        options.setdefault("retries", Retries(tries=3, first_wait=0.01))
        engines.append(Engine(store, run, **options))
        return engines[-1]

    yield make
    for engine in engines:
        engine.close(at_once=True)
    for store in stores:
        store.close()
