"""Models of a run: resolved from names and aliases, or made from the user's callables, with their prices."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.extensions import PLUGINS
from pytest_fairness.core.model_names import ModelNames
from pytest_fairness.plugin.config.ini_file import IniFile
from pytest_fairness.plugin.session.run_context import RunContext

if TYPE_CHECKING:
    from pytest_fairness.core.protocols import Model
    from pytest_fairness.models.context import ModelContext
    from pytest_fairness.models.names import ModelName


class Executor:
    """The executor of local models and embeddings: this process, or the extension of ``--fairness-executor``."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    @cached_property
    def _extension(self) -> Any:
        settings = self._context.settings
        make = PLUGINS.load_callable("ray")
        return make(
            settings.executor,
            settings.root,
            offline=settings.offline,
            joined=self._context.joined_cluster,
        )

    def join(self) -> tuple[Any, ...] | None:
        """Join the cluster of the run, if any, and return what another process needs to join it.

        Raises:
            FairnessError: The cluster cannot be joined.
        """
        joined: tuple[Any, ...] | None = self._extension.join() if self._context.settings.executor else None
        return joined

    def wrap_model(self, name: str, model: Model) -> Model:
        """Return a model that runs on the cluster if it has weights of its own; the name is no alias."""
        batch_size = getattr(model, "batch_size", None)
        if not self._context.settings.executor or batch_size is None:
            return model
        replicated: Model = self._extension.wrap_model(name, model, batch_size)
        return replicated

    def close(self) -> None:
        """Leave the cluster. Safe to call more than once."""
        if "_extension" in self.__dict__:
            self._extension.close()


class ModelResolver:
    """The models of one process, each made once."""

    def __init__(self, context: RunContext, executor: Executor) -> None:
        self._context = context
        self._executor = executor
        self._models: dict[str, Model] = {}
        self._wrapped: dict[int, tuple[object, Model]] = {}
        self._made_by: dict[int, tuple[object, str, str, str]] = {}
        self._shown: tuple[int, ModelNames] = (-1, ModelNames({}))
        """The names of this process's models, with the number of models when they were made."""

    def names(self) -> list[ModelName | None]:
        """Return the models of the run; one None where no option names a model, or no test of this plugin can run."""
        if not self._context.settings.models or self._context.fault:
            return [None]
        from pytest_fairness.models.aliases import follow
        from pytest_fairness.models.names import ModelName

        names = [ModelName.parse(follow(text, self._aliases)) for text in self._context.settings.models]
        return list({str(name): name for name in names}.values())

    def resolve(self, name: str) -> Model:
        """Return the model of a name or alias.

        Raises:
            FairnessError: The name is unknown.
        """
        from pytest_fairness.models.aliases import follow, naming_alias
        from pytest_fairness.models.registry import resolve

        if name not in self._models:
            with naming_alias(self._context.settings.root, name, self._aliases):
                model = resolve(name, aliases=self._aliases, context=self.model_context)
            self._models[name] = self._executor.wrap_model(follow(name.strip(), self._aliases), model)
        return self._models[name]

    def record_maker(self, value: object, fixture: str, label: str = "", model_name: str = "") -> None:
        """Record which fixture made the user's model, and the label for its name.

        Two callables made by one function look the same; their answers must not be mixed up.

        Raises:
            FairnessError: The fixture made the same callable for other parameters: what it answers may depend on them.
        """
        _, earlier, _, name = self._made_by.get(id(value), (value, fixture, label, model_name))
        is_same_fixture = earlier.partition("#")[0] == fixture.partition("#")[0]
        if is_same_fixture and (earlier, name) != (fixture, model_name) and not hasattr(value, "key"):
            raise FairnessError(
                "the `model` fixture returns one function for several parameters, whose answers would be taken for "
                "each other's: return a function of its own for each"
            )
        self._made_by[id(value)] = (value, fixture, label, model_name)

    def wrap(self, value: object, model_name: str | None) -> Model:
        """Return a model as it is, or the user's callable as a model.

        Raises:
            FairnessError: The value is neither a model nor a function.
        """
        entry = self._wrapped.get(id(value))
        if entry is None:
            from pytest_fairness.models.custom_model import as_model

            _, fixture, label, _ = self._made_by.get(id(value), (value, "", "", ""))
            model = as_model(
                value,
                self.model_context.run,
                self.model_context,
                made_by=f"{fixture}{model_name or ''}",
                title=model_name,
                label=label,
            )
            self._check(model)
            entry = self._wrapped[id(value)] = (value, model)
        return entry[1]

    @property
    def system_prompts(self) -> dict[str, str]:
        """The file of each model's system prompt and the fingerprint of its text, by the name of the model."""
        from pytest_fairness.core.system_prompts import system_prompt_of

        prompts = {model.name: system_prompt_of(model) for model in self._models.values()}
        return {name: f"{prompt.file} ({prompt.digest[:12]})" for name, prompt in sorted(prompts.items()) if prompt}

    @property
    def servers(self) -> dict[str, str]:
        """The address of each model whose name has ``server=``, by the name of the model."""
        from pytest_fairness.core.model_names import server_of

        named = {model.name: getattr(model, "base_url", "") for model in self._models.values()}
        return {name: address for name, address in sorted(named.items()) if server_of(name)}

    @cached_property
    def test_ids(self) -> dict[str, str]:
        """The ids of the models of the run in those of tests, by their full names."""
        return self._ids_of({name: alias for name, alias in self._typed().items() if alias})

    def store_key(self, test: str, model: str | None) -> str:
        """Return the id under which the store keeps a test's results; empty where it is the id itself.

        It has the model's own name in place of an alias, which may be renamed, or be given to another model.
        """
        own, shown = self._own_ids.get(model or "", ""), self.test_ids.get(model or "", "")
        head, bracket, parameters = test.partition("[")
        matches = list(re.finditer(rf"(?:^|(?<=-)){re.escape(shown)}(?=-|\]$)", parameters))
        if own == shown or not matches:
            return ""
        return f"{head}{bracket}{parameters[: matches[-1].start()]}{own}{parameters[matches[-1].end() :]}"

    @cached_property
    def _own_ids(self) -> dict[str, str]:
        return self._ids_of({})

    def _ids_of(self, aliases: Mapping[str, str]) -> dict[str, str]:
        from pytest_fairness.models.names import ids_of

        return {str(name): text for name, text in ids_of(filter(None, self.names()), aliases).items()}

    def show(self, text: str) -> str:
        """Return a text in which each model that this process uses has its shown name."""
        return self._own_names().show(text)

    def introduce(self, model: str) -> str:
        """Return a model's name where a reader meets it first: ``prod (openai:gpt-5-mini)``."""
        return self._own_names().introduce(model)

    def _own_names(self) -> ModelNames:
        if self._shown[0] != len(self._models):
            try:
                self._shown = len(self._models), self.name_models(())
            except FairnessError:  # of the file with the aliases, which is reported elsewhere
                return ModelNames({})
        return self._shown[1]

    def name_models(self, models: Iterable[str]) -> ModelNames:
        """Return the shown names of the models of the options, and of more by their full names.

        A model is shown as the options name it; a judge of a mark by its alias, also where only workers resolve it.
        """
        names = self._typed()
        for text in self._models:
            if text in self._aliases:
                names.setdefault(self._full_name(text), text)
        defined = {self._full_name(alias): alias for alias in reversed(self._aliases)}
        names |= {model: defined.get(model, "") for model in models if model not in names}
        return ModelNames.of(names, names)

    def _typed(self) -> dict[str, str]:
        """Return the aliases by which the options name models, by full names; empty for those that have none."""
        settings = self._context.settings
        names: dict[str, str] = {}
        for text in (*settings.models, settings.judge or ""):
            alias = text.strip()
            if alias and not names.get(name := self._full_name(text)):
                names[name] = alias if alias in self._aliases else ""
        return names

    def _full_name(self, text: str) -> str:
        """Return the full name of a model; the text where it names none, which is an error elsewhere."""
        from pytest_fairness.models.aliases import follow
        from pytest_fairness.models.names import ModelName

        if text in self._models:
            return self._models[text].name
        try:
            return str(ModelName.parse(follow(text.strip(), self._aliases)))
        except FairnessError:
            return text

    def find_name(self, key: str) -> str:
        """Return the name that the options give the model with this key; the key of any other model.

        Every process of a run knows the options, so results do not depend on how tests are distributed.
        """
        settings = self._context.settings
        models = [self.resolve(name) for name in (*settings.models, settings.judge) if name]
        return next((model.name for model in models if model.key == key), key)

    def find_price(self, model: Model) -> tuple[float, float] | None:
        """Return the USD per million input and output tokens in this run; None where they are unknown."""
        from pytest_fairness.models.pricing import price_of

        price = price_of(model, self._prices)
        if price is None or not self._context.settings.batch:
            return price
        from pytest_fairness.core.batch_api import DISCOUNT, batches_of

        if batches_of(model) is None:
            return price
        return DISCOUNT * price[0], DISCOUNT * price[1]

    def check_names(self, file: IniFile) -> None:
        """Refuse models of the options that no provider has, or whose price or batches are missing."""
        settings = self._context.settings
        models = []
        for option, names in (("model", settings.models), ("judge", (settings.judge,))):
            with file.locating_errors(option):
                models += [self.resolve(name) for name in names if name]
                self._refuse_shared_server([*models, *self._aliased_servers(models)])
        with file.locating_errors():
            self._check(*models)

    def _aliased_servers(self, models: Sequence[Model]) -> Iterator[Model]:
        """Yield the models of aliases that would take the answers of these, as their ``server=`` is one name.

        Another run may have measured them.
        """
        from pytest_fairness.core.model_names import server_of
        from pytest_fairness.models.registry import resolve

        keys = {model.key for model in models if server_of(model.name)}
        for alias in self._aliases if keys else ():
            if server_of(self._full_name(alias)):
                with suppress(FairnessError):  # of a model that this run does not use
                    model = resolve(alias, aliases=self._aliases, context=self.model_context)
                    if model.key in keys:
                        yield model

    def _refuse_shared_server(self, models: Iterable[Model]) -> None:
        """Refuse models at two addresses that would take each other's answers, as their ``server=`` is one name."""
        models = list(models)
        names = self.name_models(model.name for model in models).shown
        addresses: dict[str, tuple[str, str]] = {}
        for model in models:
            address = getattr(model, "base_url", "")
            first, name = addresses.setdefault(model.key, (address, model.name))
            if first != address:
                raise FairnessError(
                    f"{names[name]} is at {first} and {names[model.name]} at {address}, and their server= "
                    "names are the same: give each server a name of its own"
                )

    def _check(self, *models: Model) -> None:
        """Refuse a model without a price where a budget needs it, or without batches where they are requested."""
        settings = self._context.settings
        if settings.batch:
            from pytest_fairness.core.batch_api import batches_of

            for model in models:
                if not model.local and batches_of(model) is None:
                    raise FairnessError(
                        f"{self.show(model.name)} has no batches, and --fairness-batch needs them: drop the option, or "
                        "name a model of openai or anthropic"
                    )
        if settings.budget is not None:
            from pytest_fairness.engine.budget import unpriced

            for model in models:
                if self.find_price(model) is None:
                    raise FairnessError(unpriced(self.show(model.name)))

    @cached_property
    def _aliases(self) -> dict[str, str]:
        from pytest_fairness.models.aliases import read_aliases

        return dict(read_aliases(self._context.settings.root))

    @cached_property
    def model_context(self) -> ModelContext:
        """The context in which providers make models."""
        from pytest_fairness.models.context import ModelContext
        from pytest_fairness.models.env_file import read_environment

        settings = self._context.settings
        return ModelContext(
            settings.root,
            read_environment(settings.env_file),
            settings.offline,
            settings.model_concurrency,
            is_concurrency_chosen=settings.concurrency is not None,
            # An application may change between two sessions of one run, but not between jobs of a pipeline.
            run=self._context.run if settings.is_one_pipeline else self._context.session_id,
            calls=settings.application_concurrency,
        )

    @cached_property
    def _prices(self) -> dict[str, tuple[float, float]]:
        # By full names: the user may have given an alias.
        prices = self._context.settings.project.prices
        return {name and self.resolve(name).name: price for name, price in prices.items()}
