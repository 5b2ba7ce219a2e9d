"""The installed inspect_ai package: every use of its private modules, with the reason.

Checked with inspect_ai 0.3.285. It is imported when a task is loaded, never before. What it changes in the process
is restored: `sys.excepthook`, the state of `random`, and warnings of its own code.
"""

from __future__ import annotations

import random
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from inspect import signature
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError
from pytest_fairness.extending import describe_error, did_you_mean, lasting_imports
from pytest_fairness.harnesses.package import module_of

OLDEST = (0, 3, 285)
"""The oldest version whose modules have what is used here."""


@cache
def inspect_module(name: str) -> Any:
    """Return a module of inspect_ai, such as ``model`` for ``inspect_ai.model``.

    Raises:
        FairnessError: The package, or what it needs, is not installed, or it is too old.
    """
    return module_of("inspect_ai", name, "inspect", OLDEST, undisturbed)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Give no warning within the block; put the exception hook and `random` back at its end."""
    hook, state = sys.excepthook, random.getstate()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.excepthook = hook
        random.setstate(state)


def load_task(spec: str, arguments: Mapping[str, Any], root: Path) -> Any:
    """Return the task that a spec names: ``file.py@task``, ``file.py`` with one task, or ``package/task``.

    Args:
        spec: The spec.
        arguments: The task's arguments.
        root: The folder that a file's path is relative to.

    Returns:
        The task of inspect_ai.

    Raises:
        FairnessError: There is no such file or task, its arguments do not fit, or its code fails.
    """
    loader = inspect_module("_eval.loader")  # `inspect_ai.eval` loads tasks by it, and has no public name for that
    file, separator, name = spec.partition("@")
    path = (root / file).resolve()
    if path.suffix == ".py" or separator:
        if not path.is_file():
            raise FairnessError(f"inspect task {spec}: there is no file {path}")
        spec_given = f"{path}{separator}{name}"
    else:
        spec_given = spec
    with undisturbed(), lasting_imports():
        random.seed(0)  # a data set that is shuffled without a seed is the same in every process
        try:
            if path.is_file() and not separator:  # a pattern in inspect_ai, which must be relative
                tasks = loader.create_tasks([path.name], dict(arguments), path.parent)
            else:
                tasks = loader.load_tasks([spec_given], dict(arguments))
        except (Exception, SystemExit) as error:
            raise FairnessError(f"inspect task {spec}: it cannot be loaded: {describe_error(error)}") from error
    if not tasks:
        raise FairnessError(f"inspect task {spec}: there is no such task: write file.py@task or package/task")
    if len(tasks) > 1:
        names = ", ".join(sorted(task.name for task in tasks))
        raise FairnessError(f"inspect task {spec}: the file has {len(tasks)} tasks ({names}): add @NAME")
    registry = inspect_module("_util.registry")
    accepted = list(signature(registry.registry_lookup("task", registry.registry_info(tasks[0]).name)).parameters)
    for name in arguments:  # inspect_ai warns only
        if name not in accepted:
            raise FairnessError(f"inspect task {spec}: it has no argument {name!r}; {did_you_mean(name, accepted)}")
    return tasks[0]


def begin_sample(
    sample: Any,
    state: Any,
    scorers: Sequence[Any],
    target: Any,
    model: Any,
    roles: Mapping[str, Any],
    generate: Callable[..., Any],
    approval: Sequence[Any] | None,
) -> None:
    """Set the context variables that solvers, agents, tools and scorers of inspect_ai read.

    `inspect_ai.eval` sets them in its runner, which has no public parts.
    """
    log, samples = inspect_module("log._transcript"), inspect_module("log._samples")
    transcript = log.Transcript()
    log.init_transcript(transcript)
    position = {"log_location": "", "epoch": state.epoch}
    samples._sample_active.set(  # `active_sample` opens a session for editors as well
        samples.ActiveSample(
            task="",
            model=str(state.model),
            sample=sample,
            message_limit=state.message_limit,
            token_limit=None,
            cost_limit=None,
            time_limit=None,
            working_limit=None,
            sandboxes={},
            fails_on_error=True,
            transcript=transcript,
            checkpointer=samples.create_checkpointer(
                config=None, sample_id=sample.id, resume_checkpoint=None, **position
            ),
            eval_id="",
            sample_uuid=state.uuid,
            **position,
        )
    )
    inspect_module("util._store").init_subtask_store(state.store)
    inspect_module("solver._task_state").set_sample_state(state)
    inspect_module("solver._fork").set_task_generate(generate)
    inspect_module("approval._apply").init_tool_approval(approval)
    inspect_module("scorer._score").init_scoring_context(list(scorers), target)
    models = inspect_module("model._model")
    models.init_active_model(model, inspect_module("model").GenerateConfig())
    models.init_model_roles(dict(roles))
    models.init_sample_model_usage()


def note_state(state: Any) -> None:
    """Record the state that a solver returned: `sample_state()` reads it."""
    inspect_module("solver._task_state").set_sample_state(state)


def last_state() -> Any:
    """Return the state that a solver returned last, or still works on."""
    return inspect_module("solver._task_state").sample_state()


def message_limit_of(state: Any) -> Any:
    """Return the context manager of a state's message limit, which `TaskState` keeps in a private attribute."""
    return state._message_limit


def intercept_generate(generate: Callable[..., Any]) -> None:
    """Let every model of inspect_ai generate by ``generate(original, model, *arguments)``, whoever made the model.

    Solvers and scorers make models of their own by `get_model()`, which has no hook.
    """
    model_class = inspect_module("model").Model
    original = model_class.generate
    if getattr(original, "fairness_intercepted", False):
        return

    async def intercepted(model: Any, *arguments: Any, **keywords: Any) -> Any:
        return await generate(original, model, *arguments, **keywords)

    intercepted.fairness_intercepted = True  # type: ignore[attr-defined]
    model_class.generate = intercepted


def engine_model(name: str) -> Any:
    """Return a model of inspect_ai whose calls go to our engine within a sample, and fail elsewhere."""
    model = inspect_module("model")

    @model.modelapi(name="pytest_fairness")
    class EngineAPI(model.ModelAPI):  # type: ignore[misc,name-defined]
        async def generate(self, *_: Any, **__: Any) -> Any:
            raise FairnessError(f"the {name} model of an inspect task was called outside of a sample")

    return model.get_model(f"pytest_fairness/{name}", memoize=False)


def scorer_name(scorer: Any, names: Sequence[str]) -> str:
    """Return the name of a scorer as inspect_ai's logs have it."""
    return str(inspect_module("scorer._scorer").unique_scorer_name(scorer, list(names)))


def approver_name(policy: Any) -> str:
    """Return the name of the approver of a policy."""
    return str(inspect_module("_util.registry").registry_unqualified_name(policy.approver))


async def tools_of(tools: Any) -> list[Any]:
    """Return the descriptions of tools, which models are sent."""
    return list((await inspect_module("model._call_tools").prepare_tools(tools)).base_tools)


async def generate_with_tools(model: Any, state: Any, tool_calls: str, config: Any) -> Any:
    """Have a model answer a state, calling tools in the mode ``tool_calls``; the `generate` that solvers are given."""
    not_given = inspect_module("_util.notgiven").NOT_GIVEN
    return await inspect_module("_eval.task.generate").task_generate(model, state, tool_calls, not_given, config)


def tool_handler() -> Any:
    """Return inspect_ai's handler of tools for models that are sent text only: their calls stand in the answer."""
    return inspect_module("model._providers.util.llama31").Llama31Handler("fairness")


def check_message_limit(count: int) -> None:
    """Raise inspect_ai's `LimitExceededError` where a sample has as many messages as it may have."""
    inspect_module("util._limit").check_message_limit(count, raise_for_equal=True)
