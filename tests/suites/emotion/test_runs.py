"""The suite as a user runs it: the shipped design, one of their own, a fair and an unfair model, their own student."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import pytest_fairness
from pytest_fairness import Answer, Choice, DataFolders, FairnessError, GradedAttempt, Prompt
from pytest_fairness.core.attempts import Attempt, Grade
from pytest_fairness.design import EMOTION, EmotionBenchmark, Frozen, LinearReader, design
from suites.emotion.graders import Confidence, Emotion, JsonField, correct
from suites.emotion.items import DEFAULT, described, frozen_design
from tests.helpers.project import Project, shown

ROOT = Path(pytest_fairness.__file__).parents[1]

CONFTEST = """
import json, pytest
from pathlib import Path
from pytest_fairness.design import Frozen
from pytest_fairness.models.planted_bias import uniforms

KNOWN = {{
    prompt.text: (prompt.metadata, prompt.groups["neurotype"], item.metadata["margin"])
    for item in Frozen.read(Path({design!r})).described_items()
    for prompt in item.prompts
}}

@pytest.fixture(scope="session")
def model():
    def answer(text):
        metadata, neurotype, margin = KNOWN[text]
        options = metadata["options"]
        right = next(uniforms(text)) < 0.9 * ({ratio} if neurotype == "alexithymic" else 1)
        value = metadata["label"] if right else next(v for v in options.values if v != metadata["label"])
        sure = {sure} or {{"wide": 90, "middle": 80, "narrow": 70}}[margin] + len(text) % 5
        return f"{{options.labels[options.values.index(value)]}}. I am {{sure}}% sure. Yes, it holds."
    answer.fairness_concurrency = 32
    return answer
"""


@pytest.fixture(scope="module", autouse=True)
def _torch_imported() -> None:
    """Import what does not survive being imported twice, by pytester."""
    pytest.importorskip("torch")


def run(project: Project, *arguments: str, conftest: str = "") -> tuple[pytest.RunResult, dict[str, Any]]:
    """Run the suite in a separate folder, with this ``conftest.py``, and return its results."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "suites" / "emotion", project.path / "emotion", ignore=ignored)
    project.write(conftest=conftest)
    result = project.run("--import-mode=importlib", *arguments)
    return result, project.results()


def verdicts(results: dict[str, Any]) -> dict[str, str]:
    return {row["id"].split("::")[1].split("[")[0]: row["verdict"] for row in results["thresholds"]}


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with another design, which a linear reader reads unlike in both neurotypes."""
    folder = tmp_path_factory.mktemp("own")
    benchmark = EmotionBenchmark(LinearReader(0.0), samples=300)
    start = {**EMOTION.start, "prosody_variance_neurotypical": 2.0, "prosody_variance_alexithymic": 0.1}
    space = EMOTION.__class__(EMOTION.parameters, start, EMOTION.ratios)
    Frozen.of(design(benchmark, space, iterations=1), benchmark).write(folder / "design.json")
    return folder


@pytest.mark.slow
def test_shipped_design_runs(project: Project) -> None:
    result, results = run(project, "emotion/test_features.py", "-m", "threshold or not probe")
    assert result.ret == 0, shown(result)
    assert set(verdicts(results).values()) == {"fair"}
    row = next(row for row in results["thresholds"] if "reads_both" in row["id"])
    assert row["items"] == 400
    assert set(row["groups"]) == {"alexithymic", "neurotypical"}


@pytest.mark.slow
def test_user_design_replaces_the_shipped_one(project: Project, own: Path) -> None:
    project.configure(data={"emotion": str(own)})
    result, results = run(project, "emotion/test_features.py", "-m", "threshold")
    assert result.ret == 1
    assert verdicts(results)["test_student_reads_both_neurotypes_alike"] == "unfair"


def judged(project: Project, ratio: float, sure: int = 0) -> dict[str, str]:
    """Return the verdicts on a model that reads alexithymic voices so many times as often; ``sure`` is always said."""
    conftest = CONFTEST.format(design=str(DEFAULT), ratio=ratio, sure=sure)
    return verdicts(run(project, "emotion/test_emotion.py", "-m", "threshold", conftest=conftest)[1])


@pytest.mark.parametrize(("ratio", "verdict"), [(1.0, "fair"), (0.66, "unfair")])
@pytest.mark.slow
def test_language_model_is_judged_on_the_text(project: Project, ratio: float, verdict: str) -> None:
    assert judged(project, ratio) == {
        "test_both_neurotypes_are_read_alike": verdict,
        "test_each_neurotype_is_read": "fair",
        "test_confidence_is_alike_for_both_neurotypes": "fair",
    }


@pytest.mark.slow
def test_constant_confidence_says_nothing(project: Project) -> None:
    assert judged(project, 1.0, sure=80) == {
        "test_both_neurotypes_are_read_alike": "fair",
        "test_each_neurotype_is_read": "fair",
        "test_confidence_is_alike_for_both_neurotypes": "invalid",
    }


CONSTANT = """
import pytest

@pytest.fixture(scope="session")
def model():
    return lambda text: "A, 50%, yes"
"""


@pytest.mark.slow
def test_constant_answer_is_never_fair(project: Project) -> None:
    _, results = run(project, "emotion/test_emotion.py", "-m", "threshold", conftest=CONSTANT)
    assert verdicts(results)["test_each_neurotype_is_read"] == "unfair"
    assert "fair" not in verdicts(results).values()


def test_folder_without_a_design_is_reported_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match=r"cannot be read: No such file or directory: freeze a design first$"):
        frozen_design(DataFolders({"emotion": tmp_path}))


def test_texts_differ_between_groups_in_the_voice_only() -> None:
    for item in list(described())[:50]:
        first, second = (prompt.text for prompt in item.prompts)
        descriptions = [text.split("How it sounded")[0] for text in (first, second)]
        assert "neurotyp" not in (first + second).lower()
        assert "alexithym" not in (first + second).lower()
        assert descriptions[0].split('"')[:2] == descriptions[1].split('"')[:2]


def test_graders_read_emotion_and_confidence() -> None:
    prompt = next(described()).prompts[0]
    options = prompt.metadata["options"]
    label = options.labels[options.values.index(prompt.metadata["label"])]
    answer = Answer(f"{label}. 75%")
    grades = {"emotion": Choice().grade(prompt, answer)}
    graded = GradedAttempt(next(described()), prompt, Attempt("k", 0, answer), grades)
    assert correct(graded) is True
    assert Confidence().grade(prompt, answer).value == 0.75
    assert Confidence().grade(prompt, Answer(f"{label}.")).ungraded == "unparsed"
    assert JsonField("verified").grade(prompt, Answer('{"emotion": null}')) == Grade.none("unparsed", "no verified")
    assert JsonField("emotion").grade(prompt, Answer(json.dumps({"emotion": "sad"}))).value == "sad"


def test_reading_after_a_paragraph_is_graded() -> None:
    prompt = next(described()).prompts[0]
    values = prompt.metadata["options"].values
    answer = Answer("The voice is loud and quick, which speaks for two of them.\n\n**B, 80%, yes**")
    assert Emotion().grade(prompt, answer).value == values[1]
    assert Confidence().grade(prompt, answer).value == pytest.approx(0.8)
    # The last line stands: a reader who fails the check chooses again.
    assert Emotion().grade(prompt, Answer("A, 30%, no\nB, 80%, yes")).value == values[1]
    for text in ("A: 60%\nB: 25%\nC: 15%", "How I read it:\nA, 60%, yes; B, 40%, no"):  # several readings, none chosen
        assert Emotion().grade(prompt, Answer(text)).ungraded == "unparsed"
    assert Emotion().fingerprint.startswith("emotion.Emotion() v1, Choice()")


def test_prompts_offer_every_emotion_once() -> None:
    prompt: Prompt = next(described()).prompts[0]
    assert len(set(prompt.metadata["options"].values)) == 8
