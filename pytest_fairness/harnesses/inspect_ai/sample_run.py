"""One epoch of one sample: the task's solver and scorers, with our engine in place of inspect_ai's models."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from pytest_fairness import FairnessError, Grade
from pytest_fairness.extending import Attempt, Message, describe_error, finish_reasons
from pytest_fairness.extending import event_loops as asyncio
from pytest_fairness.harnesses.inspect_ai.loaded_task import SUBJECT, LoadedTask
from pytest_fairness.harnesses.inspect_ai.messages import messages_of, output_of
from pytest_fairness.harnesses.inspect_ai.package import (
    begin_sample,
    check_message_limit,
    generate_with_tools,
    inspect_module,
    intercept_generate,
    last_state,
    message_limit_of,
    note_state,
    tools_of,
)

_UNSUPPORTED = ("num_choices", "logprobs", "prompt_logprobs")
"""Settings of a call that no answer of ours can follow."""
_current: ContextVar[SampleRun] = ContextVar("fairness_sample_run")


class _UnansweredError(Exception):
    """A call of a model has no complete answer: the sample ends, ungraded."""


@dataclass(slots=True, eq=False)
class ModelCall:
    """A call of `generate` that waits for its answer."""

    model: str
    """`SUBJECT`, `JUDGE`, or a name such as ``openai/gpt-5-mini``."""
    messages: tuple[Message, ...]
    occurrence: int
    """The number of earlier calls of the sample with the same model and messages."""
    answer: asyncio.Future[Attempt] = field(repr=False)


class SampleRun:
    """One epoch of a sample, in steps.

    Its first call of the model under test has the messages ``first_messages``, and is answered by ``first_answer``; the
    run ends there where that is None. ``calls`` are those that wait; `go_on` answers them all. When `is_done`,
    ``scores`` holds inspect_ai's scores by scorer, or ``ungraded`` the reason why there are none; ``error`` is what the
    task's own code raised.
    """

    def __init__(self, task: LoadedTask, sample: Any, epoch: int, first_answer: Attempt | None = None) -> None:
        intercept_generate(generate_in_sample)
        self._task, self._sample, self._epoch = task, sample, epoch
        self._first_answer = first_answer
        self.first_messages: tuple[Message, ...] | None = None
        self._coroutine: asyncio.Task[None] | None = None
        self.is_done = False
        self._occurrences: Counter[tuple[str, str]] = Counter()
        self.calls: list[ModelCall] = []
        self.scores: dict[str, Any] = {}
        self.ungraded: Grade | None = None
        self.error: str | None = None
        self._random_state: Any = None
        self._interrupt: KeyboardInterrupt | None = None

    @property
    def is_waiting(self) -> bool:
        return bool(self.calls)

    def restore_random(self) -> None:
        if self._random_state is None:
            random.seed(str(self._sample.id))  # the same for all epochs: one first prompt
        else:
            random.setstate(self._random_state)

    def note_random(self) -> None:
        if self._coroutine is not None and not self._coroutine.done():
            self._random_state = random.getstate()

    def begin(self) -> None:
        """Run up to the first calls of models that are not answered."""

        def create_task(loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
            self._coroutine = loop.create_task(self._run())
            return self._coroutine

        self._step(create_task)

    def go_on(self, attempts: Sequence[Attempt]) -> None:
        """Answer the calls that wait, in order, and run up to the next ones."""

        def answer(_: asyncio.AbstractEventLoop) -> None:
            calls, self.calls = self.calls, []
            for call, attempt in zip(calls, attempts, strict=True):
                if not call.answer.done():  # canceled: a branch that the solver has given up
                    call.answer.set_result(attempt)

        self._step(answer)

    def cancel(self) -> None:
        """End it."""

        def cancel(_: asyncio.AbstractEventLoop) -> None:
            self.calls = []
            if self._coroutine is not None:
                self._coroutine.cancel()

        if not self.is_done:
            self._step(cancel)

    def _step(self, begin: Callable[[asyncio.AbstractEventLoop], asyncio.Task[Any] | None]) -> None:
        try:
            self._task.loop.step(self, begin)
        finally:
            if self._coroutine is not None and self._coroutine.done():
                # Its context refers to this run: without this a search for cycles would have to find each run.
                self.is_done, self._coroutine = True, None
        if self._interrupt is not None:  # raised within a task of asyncio, it would be logged as well
            raise self._interrupt

    async def _run(self) -> None:
        _current.set(self)
        try:
            await self._solve_and_score()
        except asyncio.CancelledError:
            raise
        except KeyboardInterrupt as error:
            self._interrupt = error
        except _UnansweredError:
            pass
        except BaseException as error:  # noqa: BLE001 - the task's own code
            cause = _innermost(error)
            if self.ungraded is None:
                self.error = (
                    str(cause) if isinstance(cause, FairnessError) else f"its code raised {describe_error(cause)}"
                )
                self.ungraded = Grade.none("error", self.error)

    async def _solve_and_score(self) -> None:
        task, sample = self._task, self._sample
        solver, model = inspect_module("solver"), inspect_module("model")
        target = inspect_module("scorer").Target(sample.target)
        state = solver.TaskState(
            model=model.ModelName("pytest_fairness/subject"),
            sample_id=sample.id,
            epoch=self._epoch + 1,
            input=deepcopy(sample.input),
            messages=task.messages(sample),
            target=target,
            choices=list(sample.choices) if sample.choices else None,
            message_limit=task.task.message_limit,
            metadata=deepcopy(sample.metadata or {}),
        )
        scorers = [scorer for _, scorer in task.scorers]
        begin_sample(sample, state, scorers, target, task.subject, task.roles, self._generate, task.task.approval)
        try:
            try:
                with message_limit_of(state):
                    for step in task.solvers:
                        state = await step(state, self._generate)
                        note_state(state)
                        if state.completed:
                            break
            except inspect_module("util").LimitExceededError:
                state = last_state() or state  # what the solver has come to is scored
            await self._score(state, target)
        finally:
            if task.task.cleanup is not None:
                await task.task.cleanup(state)

    async def _score(self, state: Any, target: Any) -> None:
        if state.scores is None:
            state.scores = {}
        for name, scorer in self._task.scorers:
            score = await scorer(state, target)
            if score is not None:
                state.scores[name] = score
        self.scores = dict(state.scores)
        if not state.output.completion.strip() and self.ungraded is None:
            self.ungraded = Grade.none("unparsed", "the answer is empty")

    async def _generate(self, state: Any, tool_calls: str = "loop", **config: Any) -> Any:
        """Answer a state: the `generate` that solvers are given. Every call is in our store, so `cache` is not used."""
        config.pop("cache", None)
        settings = self._task.task.config
        if config := {name: value for name, value in config.items() if value is not None}:
            settings = settings.merge(inspect_module("model").GenerateConfig(**config))
        return await generate_with_tools(self._task.subject, state, tool_calls, settings)

    async def answer(
        self, model: Any, messages: Any, tools: Any = (), tool_choice: Any = None, config: Any = None, **_: Any
    ) -> Any:
        """Return a model's output for messages of inspect_ai, once it is there."""
        if isinstance(messages, str):
            messages = [inspect_module("model").ChatMessageUser(content=messages)]
        configs = [setting for setting in (config, model.config) if setting is not None]
        for name in _UNSUPPORTED:
            if any(getattr(setting, name, None) for setting in configs):
                raise FairnessError(f"a call sets {name}, which is not supported: leave it out")
        if system := next((setting.system_message for setting in configs if setting.system_message), None):
            messages = [inspect_module("model").ChatMessageSystem(content=system), *messages]
        check_message_limit(len(messages))
        described_tools = [] if tool_choice == "none" or not tools else await tools_of(tools)
        name = self._task.model_name(model)
        prompt = messages_of(messages, described_tools)
        attempt = await self._attempt(name, prompt)
        reason = finish_reasons.ungradable(attempt)
        if reason is not None or attempt.answer is None:
            self.ungraded = self.ungraded or reason
            raise _UnansweredError
        return output_of(attempt.answer, name, described_tools)

    async def _attempt(self, name: str, messages: tuple[Message, ...]) -> Attempt:
        """Return what the model answers: the first time the attempt of the sample's own prompt."""
        key = (name, messages_key(messages))
        occurrence = self._occurrences[key]
        self._occurrences[key] += 1
        if name == SUBJECT and self.first_messages is None:
            self.first_messages = messages
            if self._first_answer is not None:
                return self._first_answer
            if self._coroutine is not None:  # nothing beyond the first prompt is wanted
                self._coroutine.cancel()  # as a whole: task groups swallow the cancellation of a branch
            never: asyncio.Future[Attempt] = asyncio.get_running_loop().create_future()
            return await never
        call = ModelCall(name, messages, occurrence, asyncio.get_running_loop().create_future())
        self.calls.append(call)
        return await call.answer


def messages_key(messages: Sequence[Message]) -> str:
    """Return a text that equal messages share."""
    return repr([(message["role"], message["content"]) for message in messages])


async def generate_in_sample(original: Callable[..., Any], model: Any, *arguments: Any, **named: Any) -> Any:
    """Generate by the engine within a sample of ours, else as inspect_ai does. Mock models answer by themselves."""
    run = _current.get(None)
    if run is None or type(model.api).__name__ == "MockLLM":
        return await original(model, *arguments, **named)
    if "input" in named:
        arguments = (named.pop("input"), *arguments)
    return await run.answer(model, *arguments, **named)


def _innermost(error: BaseException) -> BaseException:
    """Return the first error of a group, as anyio's task groups raise them."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def metadata_of(sample: Any) -> Mapping[str, Any]:
    """Return the metadata of a sample that a report can show: texts, numbers and true or false."""
    return {name: value for name, value in (sample.metadata or {}).items() if isinstance(value, str | int | float)}
