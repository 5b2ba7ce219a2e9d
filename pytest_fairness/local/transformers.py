"""``transformers:NAME``: weights on this machine, from a folder or from the hub's cache."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from pytest_fairness import Answer, Prompt
from pytest_fairness.extending import (
    DaemonThreads,
    FatalError,
    ModelContext,
    ModelError,
    ModelName,
    PermanentError,
    install,
    redacted,
    sampled_digest,
    secrets_in,
)
from pytest_fairness.extending import event_loops as asyncio
from pytest_fairness.extending import model_parameters as parameters
from pytest_fairness.graders import Continuations
from pytest_fairness.local.generation import Decoding, Generator, Job
from pytest_fairness.local.option_likelihoods import ScoringJob, score

_DECODING: dict[str, parameters.Kind] = {
    "temperature": parameters.number(0),
    "top_p": parameters.number(0.000001, 1),
    "top_k": parameters.whole(1),
    "max_tokens": parameters.whole(1),
    "seed": parameters.whole(),
}
_WEIGHTS: dict[str, parameters.Kind] = {
    "chat": parameters.flag,
    "dtype": parameters.choice("auto", "float32", "float16", "bfloat16"),
    "revision": parameters.text,
}
_MACHINE: dict[str, parameters.Kind] = {"batch_size": parameters.whole(1), "device": parameters.text}
_TOGETHER = 4
"""Number of batches that wait at a time: the next one is full when one ends, and likelihoods are sorted by length."""


class TransformersModel:
    """A causal language model of Hugging Face transformers.

    NAME is a folder or a GGUF file, relative to the rootdir, or a name on the hub, loaded from its cache if the
    run is offline. A folder with no weights but one GGUF file is that file, which is dequantized. Messages are
    formatted by the tokenizer's chat template, or as plain text if it has none, or with ``chat=false``. Tools of a
    prompt require a chat template with tools in a known form (`tool_templates`).

    Decoding: ``max_tokens`` (256), ``temperature`` (0: the most probable token), ``top_p``, ``top_k``, ``seed`` (0);
    the weights' own settings are ignored. Weights: ``dtype`` (auto), ``revision``.
    Machine, not part of the key: ``batch_size`` (8), ``device`` (auto: cuda, else mps, else cpu).

    Samples depend on seed, messages and repetition, not on the other prompts of a batch. Two
    machines, or two batch sizes, may still differ in the last bits of a probability.
    """

    local = True
    calls_tools = True
    requires: ClassVar[tuple[str, ...]] = ("torch", "transformers")

    def __init__(self, name: ModelName, context: ModelContext) -> None:
        given = parameters.read(name, {**_DECODING, **_WEIGHTS, **_MACHINE})
        self.name = name.text
        self._context = context
        path = context.root / Path(name.name).expanduser()
        self._gguf_files = _gguf_files(path)
        folder = path.parent if self._gguf_files == [path] else path
        self._source = str(folder) if folder.is_dir() else name.name
        self._decoding = Decoding(**{key: value for key, value in given.items() if key in _DECODING})
        self._options = {key: given[key] for key in ("revision",) if key in given}
        if self._gguf_files:
            self._options["gguf_file"] = self._gguf_files[0].name
        self._dtype: str = given.get("dtype", "auto")
        self._device: str = given.get("device", "auto")
        decisive = {key: value for key, value in name.parameters.items() if key not in _MACHINE}
        self.key = name.with_parameters({"max_tokens": self._decoding.max_tokens, **decisive})
        if folder.is_dir():
            contents = sorted(folder.iterdir(), key=lambda file: file.name)  # paths of Windows are sorted without case
            files = self._gguf_files or [file for file in contents if file.is_file()]
            # Changes when weights in the same folder are trained further.
            self.key += f"#{sampled_digest(folder, (file.relative_to(folder) for file in files))}"
        self._threads = DaemonThreads(1, "fairness-transformers")
        self.batch_size: int = given.get("batch_size", 8)
        self.in_flight = _TOGETHER * self.batch_size
        self._batcher = Batcher[Job, Answer | PermanentError](self._run, self.batch_size, self._threads)
        # More jobs than one batch: score() makes batches of prompts with similar lengths.
        self._scorer = Batcher[ScoringJob, Answer | PermanentError](self._score, self.in_flight, self._threads)
        self._chat: bool = given.get("chat", True)
        self._generator: Generator | None = None

    def __repr__(self) -> str:
        return f"TransformersModel({self.name!r})"

    def preflight(self) -> None:
        """Raise `FatalError` where the folder of the weights, or a library, is missing."""
        if len(self._gguf_files) > 1:
            raise FatalError(
                f"{self.name}: {self._source} holds {len(self._gguf_files)} GGUF files: name one of them, "
                f"transformers:{self._gguf_files[0]}"
            )
        if self._gguf_files and not all(_is_installed(library) for library in ("gguf", "accelerate")):
            file = self._gguf_files[0]
            raise FatalError(
                f"{self.name}: {file} is a GGUF file: {install('gguf')}, or serve it (llama-server -m {file}) and name "
                f"llama.cpp:{file.stem}"
            )
        if re.match(r"[/.~\\]|\w:|.*/.*/|.*\.gguf$", self._source) and not Path(self._source).is_dir():
            raise FatalError(f"{self.name}: there is no folder or GGUF file {self._source}")
        for library in ("torch", "transformers"):
            if not _is_installed(library):
                raise FatalError(f"{library} is not installed: {install('transformers')}")

    async def answer(self, prompt: Prompt, repetition: int) -> Answer:
        """Return the answer to one prompt, generated in a batch with others. The first answer loads the weights.

        Raises:
            PermanentError: The prompt is too long for the model.
            FatalError: A library is missing, or the weights cannot be loaded.
        """
        answer = await self._batcher.submit(Job(prompt.messages, repetition))
        if isinstance(answer, PermanentError):
            raise type(answer)(f"{self.name}: {answer}")
        return answer

    async def likelihoods(self, prompt: Prompt, question: Continuations) -> Answer:
        """Return the exact likelihood of each option, in batches with others; one of several tokens is their product.

        Raises as `answer` does.
        """
        answer = await self._scorer.submit(ScoringJob(prompt.messages, question))
        if isinstance(answer, PermanentError):
            raise PermanentError(f"{self.name}: {answer}")
        return answer

    async def close(self) -> None:
        """End the current generation at its next token, and release the memory of the device."""
        if self._generator is not None:
            self._generator.stopping = True
        await self._batcher.close()
        await self._scorer.close()
        if self._generator is not None:
            await self._threads.run(self._generator.free)
        self._generator = None
        self._threads.close()

    def _run(self, jobs: Sequence[Job]) -> Sequence[Answer | PermanentError]:
        return self._with_weights(lambda generator: generator.run(jobs))

    def _score(self, jobs: Sequence[ScoringJob]) -> Sequence[Answer | PermanentError]:
        return self._with_weights(lambda generator: score(generator, jobs, self.batch_size))

    def _with_weights(
        self, work: Callable[[Generator], list[Answer | PermanentError]]
    ) -> list[Answer | PermanentError]:
        """Return the results of a batch, computed in the worker thread."""
        try:
            if self._generator is None:
                self._generator = self._load()
            return work(self._generator)
        except ModelError as error:
            raise type(error)(f"{self.name}: {error}") from None
        except Exception as error:  # of torch or transformers: anything
            raise PermanentError(f"{self.name}: {self._error_text(error)}") from error

    def _load(self) -> Generator:
        try:
            logging: Any = import_module("transformers.utils.logging")
        except ImportError:
            raise FatalError(f"transformers is not installed: {install('transformers')}") from None
        bars = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        options = {**self._options, "local_files_only": self._context.offline}
        try:
            return Generator(
                self._source, self._decoding, device=self._device, dtype=self._dtype, options=options, chat=self._chat
            )
        except ImportError as error:
            raise FatalError(f"{self._error_text(error)}: {install('transformers')}") from error
        except Exception as error:
            raise FatalError(f"its weights cannot be loaded from {self._source}: {self._error_text(error)}") from error
        finally:
            if bars:
                logging.enable_progress_bar()

    def _error_text(self, error: Exception) -> str:
        text = " ".join(str(error).split())[:300]
        return f"{type(error).__name__}: {redacted(text, secrets_in(self._context.environment))}"


def _gguf_files(path: Path) -> list[Path]:
    """Return the GGUF file that is given, or those of a folder without other weights."""
    if path.suffix == ".gguf" and path.is_file():
        return [path]
    files = sorted(path.iterdir()) if path.is_dir() else []
    if any(file.name.endswith((".safetensors", ".bin", ".index.json")) for file in files):
        return []
    return [file for file in files if file.suffix == ".gguf"]


def _is_installed(library: str) -> bool:
    return sys.modules.get(library, ...) is not None and find_spec(library) is not None


_Job = TypeVar("_Job")
_Result = TypeVar("_Result")

_GATHER = 0.005
"""Seconds to wait for more jobs where a batch is not full: they arrive within one turn of the loop."""


class Batcher(Generic[_Job, _Result]):
    """Runner of one batch at a time in a thread; jobs that arrive meanwhile wait.

    Args:
        run: A function from jobs to one result for each, in order; its exception is raised for every job.
        size: The largest number of jobs of a batch.
        threads: The thread that runs them.
    """

    def __init__(self, run: Callable[[Sequence[_Job]], Sequence[_Result]], size: int, threads: DaemonThreads) -> None:
        self._run, self._size, self._threads = run, size, threads
        self._waiting: list[tuple[_Job, asyncio.Future[_Result]]] = []
        self._worker: asyncio.Task[None] | None = None

    async def submit(self, job: _Job) -> _Result:
        """Return the result of one job; must be called from one event loop."""
        future: asyncio.Future[_Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((job, future))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.get_running_loop().create_task(self._drain())
        return await future

    async def close(self) -> None:
        """Cancel the waiting jobs, and wait for the running batch."""
        for _, future in self._waiting:
            future.cancel()
        if self._worker is not None:
            await self._worker

    async def _drain(self) -> None:
        while self._waiting:
            if len(self._waiting) < self._size:
                await asyncio.sleep(_GATHER)
            first, self._waiting = self._waiting[: self._size], self._waiting[self._size :]
            batch = [(job, future) for job, future in first if not future.done()]
            if batch:
                await self._run_batch(batch)

    async def _run_batch(self, batch: list[tuple[_Job, asyncio.Future[_Result]]]) -> None:
        try:
            results = await self._threads.run(self._run, [job for job, _ in batch])
        except Exception as error:  # noqa: BLE001  # raised for every job of the batch
            for _, future in batch:
                if not future.done():
                    future.set_exception(error)
            return
        for (_, future), result in zip(batch, results, strict=True):
            if not future.done():
                future.set_result(result)
