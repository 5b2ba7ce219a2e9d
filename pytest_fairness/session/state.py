"""What one pytest process knows of its fairness run: found through a `StashKey`, never global."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import uuid4

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.session.bounds import OwnThresholds
from pytest_fairness.session.causes import Causes
from pytest_fairness.session.executing import Executor
from pytest_fairness.session.identity import ItemOf, Probes, SampleOf
from pytest_fairness.session.probes import Probe
from pytest_fairness.session.settings import Settings

if TYPE_CHECKING:
    from pytest_fairness.core.items import ProbeItem, Prompt
    from pytest_fairness.core.protocols import Model
    from pytest_fairness.engine.asks import Ask
    from pytest_fairness.engine.budget import Caps
    from pytest_fairness.engine.engine import Engine
    from pytest_fairness.engine.sample import Sample
    from pytest_fairness.models.context import ModelContext
    from pytest_fairness.models.names import ModelName
    from pytest_fairness.session.choices import Choices
    from pytest_fairness.session.ini_file import IniFile
    from pytest_fairness.store.samples import StoredSample
    from pytest_fairness.store.store import Store

SESSION: pytest.StashKey[FairnessSession] = pytest.StashKey()


@dataclass(frozen=True, slots=True)
class Unbuilt:
    """Stands in a test's parameters for what could not be built; the test fails with the reason."""

    reason: str
    is_skipped: bool = False

    def end(self) -> NoReturn:
        """Fail the test with the reason, or skip it."""
        if self.is_skipped:
            pytest.skip(self.reason)
        pytest.fail(self.reason, pytrace=False)


@dataclass(frozen=True, slots=True)
class Planned:
    """One selected test of a probe or threshold, as the work list sees it."""

    model_name: str | None
    sample: SampleOf
    places: Sequence[int]

    @property
    def probe(self) -> Probe:
        return self.sample.probe

    @property
    def asks(self) -> tuple[str | None, object]:
        """Whose model is asked: what is named, and the fixture that makes it."""
        return self.model_name, self.sample.model


class FairnessSession:
    """The probes, models, samples, store and engine of one process; each made when first needed."""

    def __init__(
        self, choices: Choices, run: str | None, session: str | None = None, cluster: Sequence[Any] | None = None
    ) -> None:
        self._choices = choices
        self.id = session or uuid4().hex
        """Of this call of pytest, with all its workers."""
        self._named_run, self._joined = run, cluster
        self.causes = Causes()
        self.plan: list[Planned] = []
        self.on_wait: Callable[[], None] | None = None
        """Told while a test waits for answers."""
        self.test: pytest.Item | None = None
        """The test that runs, for fixtures that outlive it."""
        self._is_checked = False
        self._models: dict[str, Model] = {}
        self._wrapped: dict[int, tuple[object, Model]] = {}
        self._made_by: dict[int, tuple[object, str, str]] = {}
        self._samples: dict[tuple[Probe, str], Sample] = {}
        self._planned: set[tuple[str | None, object]] = set()
        self._outdated: dict[str, dict[str, int]] = {}
        self._making = RLock()
        self._store: Store | None = None
        self._engine: Engine | None = None

    # What the user chose.

    @property
    def settings(self) -> Settings:
        return self._choices.settings

    @settings.setter
    def settings(self, settings: Settings) -> None:
        self._choices.settings = settings

    @property
    def fault(self) -> str:
        """Why nothing of ours can run, as far as that was looked for; empty where it can."""
        return self._choices.fault

    @property
    def is_used(self) -> bool:
        """Whether this process has anything of ours: a test, or an option that was typed."""
        return self._is_checked

    def use(self) -> None:
        """Note that something of ours is there: now the ini file is read, and the models it names are looked up.

        A project that only has the plugin installed is never refused for its ini file.
        """
        if not self._is_checked:
            self._is_checked = True
            if not self._choices.read().fault:
                self._choices.check(self.check_models)

    @cached_property
    def run(self) -> str:
        return self._named_run or self.settings.run or self.id

    @cached_property
    def own(self) -> OwnThresholds:
        return OwnThresholds(self.settings.root)

    @cached_property
    def probes(self) -> Probes:
        return Probes(self.settings)

    @cached_property
    def executor(self) -> Executor:
        return Executor(self.settings, self._joined)

    # Models.

    @cached_property
    def _aliases(self) -> dict[str, str]:
        from pytest_fairness.models.aliases import read_aliases

        return dict(read_aliases(self.settings.root))

    @cached_property
    def _context(self) -> ModelContext:
        from pytest_fairness.models.context import ModelContext
        from pytest_fairness.models.environment import read_environment

        environment = read_environment(self.settings.env_file)
        chosen = self.settings
        return ModelContext(
            chosen.root, environment, chosen.offline, chosen.concurrency, calls=chosen.calls, timeout=chosen.timeout
        )

    def model_names(self) -> list[ModelName | None]:
        """The models of the run; one None where the user named none."""
        if not self.settings.models:
            return [None]
        from pytest_fairness.models.aliases import follow
        from pytest_fairness.models.names import ModelName

        names = [ModelName.parse(follow(text, self._aliases)) for text in self.settings.models]
        return list({str(name): name for name in names}.values())

    def check_models(self, file: IniFile) -> None:
        """Refuse, before anything is asked, a name that no provider answers to."""
        judges = (self.settings.judge,) if self.settings.judge else ()
        models = []
        for option, names in (("model", self.settings.models), ("judge", judges)):
            with file.blamed(option):
                models += [self.named_model(name) for name in names]
        with file.blamed():
            self._check(*models)

    def _check(self, *models: Model) -> None:
        """Refuse a model whose price is not known where a budget needs it, or that has no batches."""
        from pytest_fairness.core.submissions import batches_of

        for model in models:
            if self.settings.batch and not model.local and batches_of(model) is None:
                raise FairnessError(
                    f"{model.name} has no batches, and --fairness-batch needs them: drop the option, or name a model "
                    "of openai or anthropic"
                )
        if self.settings.budget is not None:
            from pytest_fairness.engine.budget import unpriced

            for model in models:
                if self.price_of(model) is None:
                    raise FairnessError(unpriced(model.name))

    def price_of(self, model: Model) -> tuple[float, float] | None:
        """USD per million tokens of input and of output, as this run asks it; None where nobody knows them."""
        from pytest_fairness.core.submissions import DISCOUNT, batches_of
        from pytest_fairness.models.prices import price_of

        price = price_of(model, self._prices)
        if price is None or not self.settings.batch or batches_of(model) is None:
            return price
        return DISCOUNT * price[0], DISCOUNT * price[1]

    @cached_property
    def _prices(self) -> dict[str, tuple[float, float]]:
        # By their full names: a user may have given an alias.
        return {name and self.named_model(name).name: price for name, price in self.settings.prices.items()}

    def named_model(self, name: str) -> Model:
        """The model of a name or alias, made once in a process.

        Raises `FairnessError` for a name that means none.
        """
        from pytest_fairness.models.aliases import follow, naming_alias
        from pytest_fairness.models.registry import resolve

        if name not in self._models:
            with naming_alias(self.settings.root, name, self._aliases):
                model = resolve(name, aliases=self._aliases, context=self._context)
            self._models[name] = self.executor.placed(follow(name.strip(), self._aliases), model)
        return self._models[name]

    def note_model(self, value: object, fixture: str, label: str = "") -> None:
        """Remember which fixture made the user's model, with which parameters.

        Two callables made by one function look the same; their answers must not be mixed up. ``label`` is for their
        names.
        """
        self._made_by[id(value)] = (value, fixture, label)

    def as_model(self, value: object, model_name: str | None) -> Model:
        """A model, or the user's own callable as one.

        Raises `FairnessError` for a value that is neither.
        """
        from pytest_fairness.models.function import as_model

        held = self._wrapped.get(id(value))
        if held is None:
            _, fixture, label = self._made_by.get(id(value), (value, "", ""))
            made_by = f"{fixture}{model_name or ''}"
            # Between two sessions that name one run an application may be changed; jobs of a pipeline have the same.
            scope = self.run if self.settings.is_one_pipeline else self.id
            model = as_model(value, scope, self._context, made_by=made_by, title=model_name, label=label)
            self._check(model)
            held = self._wrapped[id(value)] = (value, model)
        return held[1]

    # Store and engine.

    @property
    def store(self) -> Store:
        if self._store is None:
            from pytest_fairness.store.store import Store

            self._store = Store(self.settings.store, self.id)
            self._store.runs.start(self.run)
        return self._store

    @property
    def engine(self) -> Engine:
        if self._engine is None:
            from pytest_fairness.core.secrets import secrets_in
            from pytest_fairness.engine.budget import Budget
            from pytest_fairness.engine.engine import Engine
            from pytest_fairness.store.pace import Rates

            settings = self.settings
            elapsed = self.store.runs.elapsed(self.run)
            budget = Budget(
                self.caps, price=self.price_of, longest=self._longest, assumed=settings.assumed_output, elapsed=elapsed
            )
            self._engine = Engine(
                self.store,
                self.run,
                concurrency=settings.concurrency,
                offline=settings.offline,
                budget=budget,
                rates=Rates(settings.rpm, settings.tpm),
                batch=settings.batch,
                secrets=secrets_in(self._context.environment),
            )
            self._engine.answers.on_wait = self.on_wait
        return self._engine

    @property
    def caps(self) -> Caps:
        """What this run may spend."""
        from pytest_fairness.engine.budget import Caps

        return Caps(self.settings.budget, self.settings.max_requests, self.settings.max_minutes)

    def _longest(self, model: Model) -> float | None:
        known = self.store.lengths(model.key)
        if known is None and self.settings.batch:  # nobody waits for a first answer then
            return self.settings.assumed_output
        return known and known[1]

    def sample(self, planned: Planned, model: Model) -> Sample:
        """A probe's items on one model; the first of a model sets the engine to work ahead."""
        probe = planned.probe
        key = (probe, model.key)
        with self._making:  # the engine's thread reads the work list while the tests' thread measures
            if key not in self._samples:
                self._samples[key] = self.sample_of(probe, probe.items, model, self.repetitions(probe))
        if planned.asks not in self._planned:
            self._planned.add(planned.asks)
            self.engine.plan(self._asks(model, planned.asks))
        return self._samples[key]

    def sample_of(self, probe: Probe, items: Sequence[ProbeItem], model: Model, repetitions: int) -> Sample:
        """Any items of a probe on one model, asked so often each."""
        from pytest_fairness.engine.sample import Sample

        return Sample(items, model, repetitions, self.engine, self.first_of(probe, model), self.first_repetition)

    def first_of(self, probe: Probe, model: Model) -> int:
        """Return the first repetition of a probe on one model: that of all its items, whatever is chosen of them.

        So a later look at a threshold, which takes more of them, holds the answers of the earlier ones.
        """
        items = [*probe.items, *probe.reserve, *probe.filtered] if self.settings.max_age else []
        return self.first_repetition(model, [prompt for item in items for prompt in item.prompts])

    def keep_answers(self, sample: StoredSample, model: Model) -> None:
        """Keep a sample's answers where the engine has not: those of a file, which needs no store to be asked again."""
        if not getattr(model, "stored", True):
            self.store.keep_answers(sample, self.run)

    def keep_parts(self) -> None:
        """Keep what this process measured of probes of which no threshold took the whole sample."""
        from pytest_fairness.store.samples import StoredSample

        for (probe, key), sample in self._samples.items():
            if attempts := sample.measured():
                model = sample.model
                asked = sample.asked_by_graders()
                part = StoredSample(probe.id, model.name, key, attempts, graders=sample.fingerprints, questions=asked)
                if self.store.runs.keep_part(self.run, self.store.owner.id, part):
                    self.keep_answers(part, model)

    def places(self, probe: Probe) -> Sequence[int]:
        """Of the items of a probe that this session asks for ahead: all, or its shard's."""
        shard = self.settings.shard
        return range(len(probe.items)) if shard is None else shard.places(probe.id, [item.id for item in probe.items])

    def repetitions(self, probe: Probe) -> int:
        """How often each prompt of a probe is asked."""
        return self.settings.repetitions or probe.repetitions

    def attempts_of(self, measured: object) -> int:
        """How many attempts a probe's item has; none of what is no item."""
        if not isinstance(measured, ItemOf):
            return 0
        probe = measured.sample.probe
        return len(probe.items[measured.place].prompts) * self.repetitions(probe)

    def first_repetition(self, model: Model, prompts: Sequence[Prompt]) -> int:
        """Return the first repetition that this run may take or ask of a model's answers to these prompts.

        Answers are kept by repetition and never replaced: those of a fresh run, or in the place of answers that are
        too old, are counted on from the last of these.
        """
        if self.settings.fresh:
            return self._next_repetition
        if self.settings.max_age is None:
            return 0
        from pytest_fairness.core.keys import prompt_digest

        with self._making:
            if model.key not in self._outdated:
                outdated = self.store.runs.outdated(self.run, model.key, self.settings.max_age)
                self._outdated[model.key] = outdated
        known = self._outdated[model.key]
        return max((known.get(prompt_digest(prompt.messages), 0) for prompt in prompts if known), default=0)

    @cached_property
    def _next_repetition(self) -> int:
        return self.store.runs.next_repetition(self.run)

    def _asks(self, model: Model, asks: tuple[str | None, object]) -> Iterator[Ask]:
        for planned in self.plan:
            if planned.asks == asks and not planned.probe.error:
                yield from self.sample(planned, model).asks(planned.places)

    def existing_engine(self) -> Engine | None:
        """The engine, if anything has needed one."""
        return self._engine

    def existing_store(self) -> Store | None:
        """The store, if anything has needed one."""
        return self._store

    def stop(self) -> None:
        """Let no process of the session send anything more."""
        if self._engine is not None:
            self._engine.stop()
        elif self._store is not None or (self._choices.are_read and self.settings.store.exists()):
            self.store.stop()

    def close_engine(self) -> None:
        """Cancel what is under way; what was answered is kept."""
        if self._engine is not None:
            self._engine.close()

    def close(self) -> None:
        """End what was started. Safe to call more than once."""
        self.close_engine()
        self._engine = None
        if "executor" in self.__dict__:
            self.executor.close()
        if self._store is not None:
            self._store.close()
            self._store = None
