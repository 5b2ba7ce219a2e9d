"""The store and the engine of one process."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from pytest_fairness.plugin.model_resolver import ModelResolver
from pytest_fairness.plugin.run_context import RunContext

if TYPE_CHECKING:
    from pytest_fairness.core.protocols import Model
    from pytest_fairness.engine.budget import Caps
    from pytest_fairness.engine.engine import Engine
    from pytest_fairness.store.store import Store


class Backend:
    """The store and the engine of one process, opened where they are needed."""

    def __init__(self, context: RunContext, models: ModelResolver) -> None:
        self._context = context
        self._models = models
        self.on_wait: Callable[[], None] | None = None
        """A function that is called while a test waits for answers."""
        self.existing_store: Store | None = None
        """The store, if it was opened."""
        self.existing_engine: Engine | None = None
        """The engine, if it was started."""
        self._resources = ExitStack()

    @property
    def store(self) -> Store:
        if self.existing_store is None:
            from pytest_fairness.store.store import Store

            location = self._context.settings.store
            if self._context.settings.is_dry_run:
                from pytest_fairness.store.archive import readable

                location = self._resources.enter_context(readable(location))
            self.existing_store = Store(location, self._context.session_id)
            self.existing_store.runs.start(self._context.run_id)
        return self.existing_store

    @property
    def engine(self) -> Engine:
        if self.existing_engine is None:
            from pytest_fairness.core.secrets import secrets_in
            from pytest_fairness.engine.budget import Budget
            from pytest_fairness.engine.engine import Engine
            from pytest_fairness.store.rates import Rates

            settings, run = self._context.settings, self._context.run_id
            budget = Budget(
                self.caps,
                price=self._models.find_price,
                longest=self._longest,
                assumed=settings.assume["output"],
                elapsed=self.store.runs.elapsed(run),
            )
            self.existing_engine = Engine(
                self.store,
                run,
                concurrency=settings.model_concurrency,
                offline=settings.offline,
                budget=budget,
                rates=Rates(settings.rpm, settings.tpm),
                batch=settings.batch,
                secrets=secrets_in(self._models.model_context.environment),
            )
            self.existing_engine.answers.on_wait = self.on_wait
        return self.existing_engine

    @property
    def caps(self) -> Caps:
        """The limits of this run's spending."""
        from pytest_fairness.engine.budget import Caps

        settings = self._context.settings
        return Caps(settings.budget, settings.max_requests, settings.max_minutes)

    def _longest(self, model: Model) -> float | None:
        """Return the tokens of the longest answer to expect; None to wait for a first answer, which a batch cannot."""
        lengths = self.store.lengths(model.key)
        if lengths is None and self._context.settings.batch:
            return self._context.settings.assume["output"]
        return lengths and lengths[1]

    def stop(self) -> None:
        """Make all processes of the session stop sending requests."""
        if self.existing_engine is not None:
            self.existing_engine.stop()
        elif self.existing_store is not None or (
            self._context.are_settings_read and self._context.settings.store.exists()
        ):
            self.store.stop()

    def close_engine(self, *, at_once: bool = False) -> None:
        """Store the answers that have arrived and, unless ``at_once``, those in flight that arrive soon."""
        if self.existing_engine is not None:
            self.existing_engine.close(at_once=at_once)

    def close(self) -> None:
        """Close engine and store. Safe to call more than once."""
        self.close_engine()
        self.existing_engine = None
        if self.existing_store is not None:
            self.existing_store.close()
            self.existing_store = None
        self._resources.close()
