"""Embeddings of texts, and a grader of their similarity to anchors."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_fairness.core.attempts import Answer, Grade, GradedAttempt
from pytest_fairness.core.calls import explains_construction
from pytest_fairness.core.digests import sampled_digest
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.keys import fingerprint_of
from pytest_fairness.graders.anchors import Anchors
from pytest_fairness.graders.extraction.normalization import answer_text, trim_and_fold
from pytest_fairness.graders.refusal import nothing_read, refuses

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MODULES = "modules.json"
_HUB_TIMEOUT = 5.0
"""Seconds to wait for the hub's answer: its own library retries for minutes."""
_CACHE_BYTES = 2**29
"""The most bytes of cached embeddings; beyond them, the oldest are dropped and computed again when needed."""

REMOTE_EMBEDDER: ContextVar[Callable[[Embedder, Sequence[str]], NDArray[np.float32]] | None] = ContextVar(
    "fairness_embeddings", default=None
)
"""The function that computes embeddings in a run with an executor. Embedders are made by users, without it."""


@explains_construction
class Embedder:
    """A sentence-transformers model.

    It is loaded when a text is first embedded, and freed with its embeddings by `close`. Share one between graders:
    each text is embedded once. Tokens beyond the model's limit are ignored. A model that the cache of Hugging Face
    lacks is downloaded, unless ``offline`` or ``HF_HUB_OFFLINE=1`` is set. Where the hub does not answer in five
    seconds, only the cache is used; a folder needs no hub.

    The store keeps grades under the model's name and ``revision``, or under a digest of the folder's files, so that a
    model that changes under its name needs a ``revision``.

    Args:
        model: The name on Hugging Face, or the folder of the model.
        revision: A branch, tag or commit. None: the newest.
        device: The device, such as "cuda". None: the best available of CUDA, MPS and CPU.
        batch_size: The number of texts that are embedded together.
        offline: Whether to use only the cache of Hugging Face.

    Raises:
        FairnessError: The model cannot be loaded; raised at its first use.
    """

    def __init__(
        self,
        model: str | Path = "Qwen/Qwen3-Embedding-0.6B",
        *,
        revision: str | None = None,
        device: str | None = None,
        batch_size: int = 32,
        offline: bool = False,
    ) -> None:
        self._source = str(model)
        self._revision = revision
        self._device = device
        self._batch_size = batch_size
        self._offline = offline
        self._model: Any = None
        self._failure: FairnessError | None = None
        self._cache: dict[str, NDArray[np.float32]] = {}
        self._size = 0

    @cached_property
    def fingerprint(self) -> str:
        """The model's name and revision; for a folder its name and a digest of its files."""
        folder = Path(self._source)
        if folder.is_dir():
            return f"{folder.resolve().name} {_files_digest(folder)}"
        return f"{self._source}@{self._revision}" if self._revision else self._source

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the embeddings of texts: one row of length 1 per text."""
        import numpy as np

        by_text = {text: self._cache[text] for text in texts if text in self._cache}
        missing = [text for text in dict.fromkeys(texts) if text not in by_text]
        if missing:
            embeddings = dict(zip(missing, self._compute(missing), strict=True))
            self._add_to_cache(embeddings)
            by_text |= embeddings
        return np.stack([by_text[text] for text in texts]) if texts else np.empty((0, 0), np.float32)

    def _compute(self, texts: list[str]) -> NDArray[np.float32]:
        remote = REMOTE_EMBEDDER.get()
        return self.encode(texts) if remote is None else remote(self, texts)

    @property
    def recipe(self) -> dict[str, Any]:
        """The arguments of an equal embedder in another process."""
        folder = Path(self._source)
        return {
            "model": str(folder.resolve()) if folder.is_dir() else self._source,
            "revision": self._revision,
            "device": self._device,
            "batch_size": self._batch_size,
            "offline": self._offline,
        }

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the embeddings of texts, computed in this process and not cached."""
        import numpy as np

        if self._failure is not None:  # else each grader of a run would wait for the hub again
            raise self._failure
        if self._model is None:
            try:
                self._model = self._load()
            except FairnessError as error:
                self._failure = error
                raise
        # Tokenizers refuse half of a surrogate pair. The model itself sorts the texts by length.
        valid_texts = [text.encode("utf-8", "replace").decode() for text in texts]
        encoded = self._model.encode(valid_texts, batch_size=self._batch_size, show_progress_bar=False)
        vectors: NDArray[np.float32] = np.array(encoded, np.float32)
        # The model would normalize in half precision.
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(lengths > 0, lengths, 1)
        return vectors

    def _add_to_cache(self, vectors: dict[str, NDArray[np.float32]]) -> None:
        self._cache |= {
            text: vector.copy() for text, vector in vectors.items()
        }  # a view of a row would keep the whole array
        self._size += sum(vector.nbytes for vector in vectors.values())
        while self._size > _CACHE_BYTES:
            self._size -= self._cache.pop(next(iter(self._cache))).nbytes

    def _load(self) -> Any:
        if find_spec("sentence_transformers") is None:
            raise FairnessError('sentence-transformers is not installed: pip install "./pytest-fairness[embeddings]"')
        # Try the hub first: loading the library takes longer.
        is_local = Path(self._source).is_dir() or self._must_use_cache()
        library: Any = import_module("sentence_transformers")
        try:
            with _hidden_progress_bars():
                return library.SentenceTransformer(
                    self._source, device=self._device, revision=self._revision, local_files_only=is_local
                )
        except Exception as error:  # of torch, transformers or the hub: anything
            reason = " ".join(str(error).split())[:200]
            raise FairnessError(
                f"the embedding model {self._source} cannot be loaded: {type(error).__name__}: {reason}; "
                "name a sentence-transformers model, or a folder that holds one"
            ) from error

    def _must_use_cache(self) -> bool:
        """Return whether the hub cannot be reached.

        Whether the cache has the model is tested by its list of modules: without that file, the library would silently
        choose another pooling.
        """
        hub: Any = import_module("huggingface_hub")
        name = self._source if "/" in self._source else f"sentence-transformers/{self._source}"
        try:
            hub_failure = "offline is set" if self._offline else _find_hub_failure(hub, name, self._revision)
            cached = hub_failure and hub.try_to_load_from_cache(name, _MODULES, revision=self._revision)
        except hub.errors.HFValidationError as error:
            raise FairnessError(f"the embedding model {self._source} is neither a folder nor a name: {error}") from None
        if hub_failure and not isinstance(cached, str):
            raise FairnessError(
                f"the embedding model {self._source} is not in the cache of Hugging Face, and cannot be downloaded "
                f"from {hub.constants.ENDPOINT}: {hub_failure}; name a folder that holds one, in the shipped suites "
                'by embeddings = "DIR" in [tool.pytest-fairness.data]'
            )
        return bool(hub_failure)

    def close(self) -> None:
        """Free the memory of the model and of its embeddings; the next use loads it again."""
        self._failure = None
        self._cache.clear()
        self._size = 0
        if self._model is None:
            return
        device = self._model.device.type
        self._model = None
        gc.collect()
        if device in ("cuda", "mps"):
            getattr(import_module("torch"), device).empty_cache()

    def __repr__(self) -> str:
        return f"Embedder({self._source!r})"


def _find_hub_failure(hub: Any, name: str, revision: str | None) -> str:
    """Return the reason why the hub does not answer; empty where it does, even if it has no such model."""
    try:
        hub.get_hf_file_metadata(hub.hf_hub_url(name, _MODULES, revision=revision), timeout=_HUB_TIMEOUT)
    except hub.errors.HFValidationError:
        raise
    except hub.errors.HfHubHTTPError as error:
        return "" if error.response.status_code < 500 else f"it answers {error.response.status_code}"
    except Exception as error:  # noqa: BLE001 - of its HTTP client, which differs between versions
        return " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return ""


@contextmanager
def _hidden_progress_bars() -> Iterator[None]:
    """Hide the progress bars of loading weights, which would break pytest's own lines."""
    logging: Any = import_module("transformers.utils.logging")
    was_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_enabled:
            logging.enable_progress_bar()


def _files_digest(folder: Path) -> str:
    """Return a digest of a model's files that changes with training, without reading all of them."""
    paths = sorted(folder.rglob("*"), key=lambda path: path.parts)  # paths of Windows are sorted without case
    files = (path.relative_to(folder) for path in paths if path.is_file())
    return sampled_digest(folder, (file for file in files if not any(part.startswith(".") for part in file.parts)))


@explains_construction
@dataclass(frozen=True)
class SimilarityScale:
    """The position of an answer between the ends of a dimension, as a float from -1 to 1.

    It is the median cosine similarity of the answer's embedding to the positive anchors, minus the median to the
    negative ones. Thinking is left out. An answer that is empty or refuses is ungraded; its extreme values are -1 and
    1, the range if no two texts have a cosine below 0.

    Warmth and competence are the two dimensions by which people judge others: S. T. Fiske, A. J. C.
    Cuddy, P. Glick, J. Xu, "A model of (often mixed) stereotype content", Journal of Personality and
    Social Psychology 82 (2002) 878-902.

    ``grade={name: SimilarityScale(embedder, anchors) for name, anchors in read_anchors().items()}``
    grades both; a scale for each of several embedders, under names of their own, compares models.

    Args:
        embedder: The embedding model.
        anchors: The ends of the dimension.

    Raises:
        FairnessError: The embedder cannot be used.
    """

    embedder: Embedder
    anchors: Anchors

    extremes = (-1.0, 1.0)

    @property
    def fingerprint(self) -> str | None:
        """Class, anchors, model and version of the reading rules; None where the embedder has no fingerprint."""
        embedder = fingerprint_of(self.embedder)
        return embedder and f"SimilarityScale({self.anchors.fingerprint}, {embedder}) v2"

    def grade_batch(self, attempts: Sequence[GradedAttempt]) -> list[Grade]:
        answers = [attempt.attempt.answer for attempt in attempts]
        texts = ["" if answer is None else _embedded_text(answer) for answer in answers]
        scores = iter(self.scores([text for text in texts if text]))
        return [
            Grade(next(scores)) if text else nothing_read(answer or Answer(""), "nothing to embed")
            for text, answer in zip(texts, answers, strict=True)
        ]

    def scores(self, texts: Sequence[str]) -> list[float]:
        """Return the positions of texts, from -1 to 1, in order; the texts are embedded whole."""
        import numpy as np

        if not texts:
            return []
        vectors = self.embedder.embed(texts)
        ends = (self.embedder.embed(sentences) for sentences in (self.anchors.positive, self.anchors.negative))
        high, low = (np.median(vectors @ end.T, axis=1) for end in ends)
        positions: list[float] = (high - low).astype(float).tolist()
        return positions

    def close(self) -> None:
        """Free the embedder."""
        self.embedder.close()


def _embedded_text(answer: Answer) -> str:
    """Return the text of an answer that is embedded; empty for an empty answer or a refusal."""
    text = answer_text(answer)
    return "" if not trim_and_fold(text) or refuses(text) else text
