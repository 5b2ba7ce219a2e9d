"""Positions of texts in the space of an embedding model: each text is embedded once, many at a time."""

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
from pytest_fairness.core.digests import sampled_digest
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.keys import fingerprint_of
from pytest_fairness.graders.anchors import Anchors
from pytest_fairness.graders.extraction.normalization import answer_text, bare
from pytest_fairness.graders.refusal import nothing_read, refuses

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MODULES = "modules.json"
_PATIENCE = 5.0
"""Seconds that the hub has to say whether it is there: its library itself tries for minutes."""
_MOST_KEPT = 2**29
"""Bytes of embeddings that are kept; beyond, the oldest are dropped and made again when they are needed."""

REMOTE_EMBEDDER: ContextVar[Callable[[Embedder, Sequence[str]], NDArray[np.float32]] | None] = ContextVar(
    "fairness_embeddings", default=None
)
"""Makes the embeddings where a run has an executor: the user's embedders know of none."""


class Embedder:
    """A sentence-transformers model, by its name on Hugging Face or by the folder that holds it.

    It is loaded when a text is first embedded, on the best device there is (CUDA, MPS, CPU) unless
    ``device`` names one, and freed with its embeddings by `close`. Share one between graders: a text
    is embedded once. What of a text lies beyond the most tokens that the model reads does not count.
    A name that the cache of Hugging Face lacks is downloaded, unless ``offline`` or ``HF_HUB_OFFLINE=1`` is set.
    Where the hub does not answer in five seconds, the cache alone is used; a folder needs no hub.

    Grades are kept in the store under the model's name and ``revision`` (a branch, tag or commit), or
    under a digest of the folder's files, so that a model which changes under its name needs a ``revision``.

    Raises `FairnessError`, when first used, where the model cannot be loaded.
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
        self._kept: dict[str, NDArray[np.float32]] = {}
        self._size = 0

    @cached_property
    def fingerprint(self) -> str:
        """The model's name and revision; of a folder its name and a digest of what is in it."""
        folder = Path(self._source)
        if folder.is_dir():
            return f"{folder.resolve().name} {_files_digest(folder)}"
        return f"{self._source}@{self._revision}" if self._revision else self._source

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the embeddings of texts, one a row, each of length 1; in batches of texts of like length."""
        import numpy as np

        by_text = {text: self._kept[text] for text in texts if text in self._kept}
        new = [text for text in dict.fromkeys(texts) if text not in by_text]
        if new:
            by_text |= dict(zip(new, self._new(new), strict=True))
            self._keep({text: by_text[text] for text in new})
        return np.stack([by_text[text] for text in texts]) if texts else np.empty((0, 0), np.float32)

    def _new(self, texts: list[str]) -> NDArray[np.float32]:
        remote = REMOTE_EMBEDDER.get()
        return self.encode(texts) if remote is None else remote(self, texts)

    @property
    def recipe(self) -> dict[str, Any]:
        """The arguments that make the same embedder in another process."""
        folder = Path(self._source)
        return {
            "model": str(folder.resolve()) if folder.is_dir() else self._source,
            "revision": self._revision,
            "device": self._device,
            "batch_size": self._batch_size,
            "offline": self._offline,
        }

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the embeddings of texts, made in this process and not kept."""
        import numpy as np

        if self._failure is not None:  # each grader of a run would wait for it again
            raise self._failure
        if self._model is None:
            try:
                self._model = self._load()
            except FairnessError as error:
                self._failure = error
                raise
        # Tokenizers refuse half of a surrogate pair. The model sorts the texts by length itself.
        whole = [text.encode("utf-8", "replace").decode() for text in texts]
        given = self._model.encode(whole, batch_size=self._batch_size, show_progress_bar=False)
        vectors: NDArray[np.float32] = np.array(given, np.float32)
        # Here, not by the model: half precision would lose it again.
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        vectors /= np.where(lengths > 0, lengths, 1)
        return vectors

    def _keep(self, vectors: dict[str, NDArray[np.float32]]) -> None:
        self._kept |= {text: vector.copy() for text, vector in vectors.items()}  # a row would hold all of them
        self._size += sum(vector.nbytes for vector in vectors.values())
        while self._size > _MOST_KEPT:
            self._size -= self._kept.pop(next(iter(self._kept))).nbytes

    def _load(self) -> Any:
        if find_spec("sentence_transformers") is None:
            raise FairnessError('sentence-transformers is not installed: pip install "./pytest-fairness[embeddings]"')
        # The hub first: to load the library takes longer than to find out that there is none.
        is_local = Path(self._source).is_dir() or self._is_cached_only()
        library: Any = import_module("sentence_transformers")
        try:
            with _without_bars():
                return library.SentenceTransformer(
                    self._source, device=self._device, revision=self._revision, local_files_only=is_local
                )
        except Exception as error:  # of torch, transformers or the hub: anything
            reason = " ".join(str(error).split())[:200]
            raise FairnessError(
                f"the embedding model {self._source} cannot be loaded: {type(error).__name__}: {reason}; "
                "name a sentence-transformers model, or a folder that holds one"
            ) from error

    def _is_cached_only(self) -> bool:
        """Return whether there is no hub to ask. Raises where the cache lacks the model as well.

        The list of a model's modules tells: without it, the library makes up another pooling in silence.
        """
        hub: Any = import_module("huggingface_hub")
        name = self._source if "/" in self._source else f"sentence-transformers/{self._source}"
        try:
            no_hub = "it is not asked" if self._offline else _no_hub(hub, name, self._revision)
            cached = no_hub and hub.try_to_load_from_cache(name, _MODULES, revision=self._revision)
        except hub.errors.HFValidationError as error:
            raise FairnessError(f"the embedding model {self._source} is neither a folder nor a name: {error}") from None
        if no_hub and not isinstance(cached, str):
            raise FairnessError(
                f"the embedding model {self._source} is not in the cache of Hugging Face, and cannot be downloaded "
                f"from {hub.constants.ENDPOINT}: {no_hub}; name a folder that holds one, in the shipped suites "
                "by --fairness-data embeddings=DIR"
            )
        return bool(no_hub)

    def close(self) -> None:
        """Give back the memory of the model and of its embeddings. It can be used again."""
        self._failure = None
        self._kept.clear()
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


def _no_hub(hub: Any, name: str, revision: str | None) -> str:
    """Return why the hub does not answer; nothing where it does, if only to say that it has no such file."""
    try:
        hub.get_hf_file_metadata(hub.hf_hub_url(name, _MODULES, revision=revision), timeout=_PATIENCE)
    except hub.errors.HFValidationError:
        raise
    except hub.errors.HfHubHTTPError as error:
        return "" if error.response.status_code < 500 else f"it says {error.response.status_code}"
    except Exception as error:  # noqa: BLE001 - of the client it uses, which changes from version to version
        return " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return ""


@contextmanager
def _without_bars() -> Iterator[None]:
    """Hide the bars of loading weights: they tear pytest's own lines."""
    logging: Any = import_module("transformers.utils.logging")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


def _files_digest(folder: Path) -> str:
    """Return a digest of a model's files that changes with training, without reading all of them."""
    files = (path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file())
    return sampled_digest(folder, (file for file in files if not any(part.startswith(".") for part in file.parts)))


@dataclass(frozen=True)
class SimilarityScale:
    """The position of an answer between the ends of a dimension, as a float from -1 to 1.

    The median cosine similarity of its embedding to the positive anchors, minus the median to the
    negative ones. Its thinking is left out. An answer that is empty or refuses is ungraded; what it
    could have been is taken from -1 to 1, the range while no two texts have a cosine below 0.

    Warmth and competence are the two dimensions by which people judge others: S. T. Fiske, A. J. C.
    Cuddy, P. Glick, J. Xu, "A model of (often mixed) stereotype content", Journal of Personality and
    Social Psychology 82 (2002) 878-902.

    ``grade={name: SimilarityScale(embedder, anchors) for name, anchors in read_anchors().items()}``
    grades both; a scale for each of several embedders, under names of their own, compares models.

    Raises `FairnessError` where the embedder cannot be used.
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
        texts = ["" if answer is None else _text(answer) for answer in answers]
        scores = iter(self.scores([text for text in texts if text]))
        return [
            Grade(next(scores)) if text else nothing_read(answer or Answer(""), "nothing to embed")
            for text, answer in zip(texts, answers, strict=True)
        ]

    def scores(self, texts: Sequence[str]) -> list[float]:
        """Return the positions of texts as they stand, in order."""
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


def _text(answer: Answer) -> str:
    """Return what is embedded of an answer; nothing where it says nothing."""
    text = answer_text(answer)
    return "" if not bare(text) or refuses(text) else text
