"""A task of inspect_ai as it was loaded: its samples, solvers and scorers, checked for what cannot be run here.

Solvers and scorers are coroutines; our engine has the answers. So a sample runs until nothing in it can go on without
an answer, its calls are collected, and it goes on when all of them are answered. The order of calls then depends on
the solver alone, not on which answer came first, and a later run makes the same calls.
"""

from __future__ import annotations

import random
import selectors
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Protocol

from pytest_fairness import FairnessError
from pytest_fairness.extending import DaemonExecutor
from pytest_fairness.extending import event_loops as asyncio
from pytest_fairness.harnesses.inspect_ai.messages import refuse_media
from pytest_fairness.harnesses.inspect_ai.package import (
    approver_name,
    engine_model,
    inspect_module,
    load_task,
    scorer_name,
)

SUBJECT, JUDGE = "subject", "judge"
"""The model under test, and that of the role ``grader``; every other model has a name with a slash."""
_DECODING = ("temperature", "max_tokens", "top_p", "top_k", "seed", "stop_seqs", "reasoning_effort")
_LIMITS = ("token_limit", "cost_limit", "turn_limit")


class LoadedTask:
    """A task that can be run by our engine.

    Args:
        spec: ``file.py@task``, ``file.py`` or ``package/task``.
        arguments: The task's own arguments.
        root: The folder from which a file's name counts.

    Raises:
        FairnessError: The task cannot be loaded, or needs what is not supported: a sandbox, images, a limit of tokens.
    """

    def __init__(self, spec: str, arguments: Mapping[str, Any], root: Path) -> None:
        self._spec = spec
        self.task = load_task(spec, arguments, root)
        self.loop = sample_loop()
        self.has_judge = False
        """Whether the run names a judge."""
        self._refuse_unsupported()

    @property
    def name(self) -> str:
        """The task's name without its package."""
        return str(self.task.name).rpartition("/")[2]

    @cached_property
    def samples(self) -> list[Any]:
        """The samples, each with an id; those without one are numbered from 1, as inspect_ai does."""
        samples = [deepcopy(sample) if sample.id is None else sample for sample in self.task.dataset]
        digits = len(str(len(samples)))
        for number, sample in enumerate(samples, 1):
            if sample.id is None:
                sample.id = f"{number:0{digits}}"
        return samples

    @cached_property
    def solvers(self) -> list[Callable[..., Any]]:
        """The steps of the setup and the solver, in order."""
        unroll = inspect_module("solver._chain").unroll  # as `inspect_ai.eval` does, which has no public name for it
        solvers = [self.task.setup, self.task.solver]
        return [step for solver in solvers if solver is not None for step in unroll(solver)]

    @cached_property
    def scorers(self) -> list[tuple[str, Any]]:
        scorers: list[tuple[str, Any]] = []
        for scorer in self.task.scorer or ():
            scorers.append((scorer_name(scorer, [name for name, _ in scorers]), scorer))
        if not scorers:
            raise self._refusal("it has no scorer: give it one, as in Task(..., scorer=match())")
        return scorers

    @property
    def score_keys(self) -> dict[str, list[str]]:
        """The keys of each scorer's values, as far as its metrics name them; none of one with a single value."""
        metrics_of = inspect_module("scorer._scorer").scorer_metrics
        return {name: [key for key in _keys(metrics_of(scorer)) if "*" not in key] for name, scorer in self.scorers}

    @cached_property
    def metadata_by_item(self) -> dict[str, Any]:
        """The metadata of each sample, by the id of its item."""
        return {str(sample.id): sample.metadata for sample in self.samples}

    @property
    def epochs(self) -> int:
        """The number of runs of each sample."""
        return self.task.epochs or 1

    @cached_property
    def subject(self) -> Any:
        """The model under test, as `get_model()` returns it within a sample."""
        return engine_model(SUBJECT)

    @cached_property
    def judge(self) -> Any:
        """The run's judge, as `get_model(role="grader")` returns it."""
        return engine_model(JUDGE)

    @property
    def roles(self) -> Mapping[str, Any]:
        """The models by role: those of the task, and the run's judge as ``grader``."""
        declared = self.task.model_roles or {}
        return {**declared, "grader": self.judge} if self.has_judge else declared

    def model_name(self, model: Any) -> str:
        """Return which model a call goes to: `SUBJECT`, `JUDGE` or a name such as ``openai/gpt-5-mini``."""
        if model.api is self.subject.api:
            return SUBJECT
        return JUDGE if model.api is self.judge.api else str(model)

    def messages(self, sample: Any) -> list[Any]:
        """Return the first messages of a sample, which a solver may change."""
        if isinstance(sample.input, str):
            return [inspect_module("model").ChatMessageUser(content=sample.input, source="input")]
        return deepcopy(list(sample.input))

    @property
    def unsent_settings(self) -> list[str]:
        """The settings of decoding that the task has, as parameters of a model's name: they are not sent."""
        config = self.task.config.model_dump(exclude_none=True)
        return [f"{name}={config[name]}" for name in _DECODING if name in config]

    @property
    def tolerates_errors(self) -> bool:
        """Return whether a sample whose code fails is left without a score: ``fail_on_error`` is False, or a share."""
        return self.task.fail_on_error not in (None, True)

    def _refuse_unsupported(self) -> None:
        task = self.task
        if task.sandbox is not None or any(sample.sandbox for sample in task.dataset):
            raise self._refusal("it needs a sandbox, which is not supported: run it by inspect, and import its log")
        if any(sample.files or sample.setup for sample in task.dataset):
            raise self._refusal("its samples have files for a sandbox, which is not supported")
        if getattr(task, "sample_source", None) is not None:
            raise self._refusal("it makes its samples while it runs, which is not supported: give it a data set")
        if any(approver_name(policy) == "human" for policy in task.approval or ()):
            raise self._refusal("a person approves its calls of tools, which is not supported: name another approver")
        for name in _LIMITS:
            if getattr(task, name, None) is not None:
                raise self._refusal(f"it sets {name}, which is not supported: leave it out")
        for sample in task.dataset:
            if not isinstance(sample.input, str):
                try:
                    refuse_media(sample.input)
                except FairnessError as error:
                    raise self._refusal(f"sample {sample.id}: {error}") from None

    def _refusal(self, reason: str) -> FairnessError:
        return FairnessError(f"inspect task {self._spec}: {reason}")


def _keys(metrics: Any) -> list[str]:
    """Return the keys of a scorer's value that its metrics name."""
    if isinstance(metrics, dict):
        return list(metrics)
    return [key for entry in metrics if isinstance(entry, dict) for key in entry]


class SteppedRun(Protocol):
    """A run of a sample, as the loop sees it."""

    @property
    def is_waiting(self) -> bool:
        """Return whether it has calls that are not answered."""
        ...

    def restore_random(self) -> None:
        """Set `random` to its state at the end of the last step: each run draws numbers of its own."""
        ...

    def note_random(self) -> None:
        """Note the state of `random`, at the end of a step."""
        ...


class SampleLoop:
    """An event loop that runs one step of one sample at a time, in the thread of the tests."""

    def __init__(self) -> None:
        self._loop = asyncio.SelectorEventLoop(_IdleSelector(self._is_idle))
        self._current: SteppedRun | None = None

    def step(self, run: SteppedRun, begin: Callable[[asyncio.AbstractEventLoop], asyncio.Task[Any] | None]) -> None:
        """Run a step of a sample, and wait for its end.

        Args:
            run: The sample.
            begin: Called at the beginning; returns the sample's task where it has just begun.
        """
        outer: asyncio.AbstractEventLoop | None = None
        with suppress(RuntimeError):  # none is running
            outer = asyncio.get_running_loop()
        if outer is None:
            self._step(run, begin)
        else:  # as in a notebook: two loops cannot run in one thread
            DaemonExecutor().submit(self._step, run, begin).result()

    def _step(self, run: SteppedRun, begin: Callable[[asyncio.AbstractEventLoop], asyncio.Task[Any] | None]) -> None:
        outer = random.getstate()
        run.restore_random()
        try:
            self._current = run
            if (task := begin(self._loop)) is not None:
                task.add_done_callback(lambda _: self._stop(run))
            self._loop.run_forever()
        finally:
            self._current = None
            run.note_random()
            random.setstate(outer)

    def _stop(self, run: SteppedRun) -> None:
        if run is self._current:  # not of one that Ctrl-C has ended
            self._loop.stop()

    def _is_idle(self) -> bool:
        """Stop the loop, which has nothing to run, where the current sample waits for models only."""
        if self._current is None or not self._current.is_waiting:
            return False
        self._loop.stop()
        return True


@cache
def sample_loop() -> SampleLoop:
    """Return the loop of this process. It is never dropped: one that is warns that nobody has closed it."""
    return SampleLoop()


class _IdleSelector(selectors.DefaultSelector):
    """A selector that is asked by the loop to wait only when no callback is ready."""

    def __init__(self, is_idle: Callable[[], bool]) -> None:
        super().__init__()
        self._is_idle = is_idle

    def select(self, timeout: float | None = None) -> Any:
        if (timeout is None or timeout > 0) and self._is_idle():
            timeout = 0
        return super().select(timeout)
