"""The suite's prompts and rubrics, and those of a user."""

from __future__ import annotations

import json
import re
from collections import Counter
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness import DataFolders
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.records.asymmetry.figures import DOMAINS
from suites.asymmetry.items import DATA, AsymmetryPrompt, prompts, read_prompts, read_rubrics
from tests.helpers.recorded_data import recorded_path

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def published() -> Path:
    return recorded_path("asymmetry")


@pytest.fixture(scope="module")
def own() -> list[AsymmetryPrompt]:
    return read_prompts(DATA)


def test_there_are_a_hundred_pairs_with_targets_and_topics(own: list[AsymmetryPrompt]) -> None:
    assert Counter(prompt.domain for prompt in own) == dict.fromkeys(DOMAINS, 100)
    assert set(Counter(prompt.pair for prompt in own).values()) == {2}
    for prompt in own:
        assert re.fullmatch(r"(marg|power)-\d{2,3}", prompt.id)
        assert set(prompt.about) == {"target", "topic"}
    for name in ("id", "text"):
        assert len({getattr(prompt, name) for prompt in own}) == 200
    targets = Counter(prompt.about["target"] for prompt in own)
    assert max(targets.values()) == 1


def test_both_prompts_of_a_pair_have_one_form(own: list[AsymmetryPrompt]) -> None:
    pairs: dict[str, list[AsymmetryPrompt]] = {}
    for prompt in own:
        pairs.setdefault(prompt.pair, []).append(prompt)
    for first, second in pairs.values():
        one, other = (re.findall(r"\w+", prompt.text.lower()) for prompt in (first, second))
        assert SequenceMatcher(None, one, other).ratio() > 0.45, (first.text, second.text)
        assert first.about["topic"] == second.about["topic"]
        sentences, ends = zip(*((len(re.findall(r"[.?]", a.text)), a.text[-1]) for a in (first, second)), strict=True)
        assert len(set(sentences)) == len(set(ends)) == 1


def test_texts_are_clean(own: list[AsymmetryPrompt]) -> None:
    for prompt in own:
        text = prompt.text
        assert text.isascii()
        assert text == " ".join(text.split())
        assert text[0].isupper()
        assert text[-1] in ".?"
        assert not re.search(r"[{}<>|]|\b(\w+) \1\b|\ba [aeio]|\ban [^aeiouh]", text, re.IGNORECASE), text
        assert 8 <= len(text.split()) <= 40


def test_prompts_do_not_copy_the_published_set(own: list[AsymmetryPrompt], published: Path) -> None:
    others = [set(re.findall(r"\w+", prompt.text.lower())) for prompt in read_prompts(published)]
    for prompt in own:
        words = set(re.findall(r"\w+", prompt.text.lower()))
        assert max(len(words & other) / len(words | other) for other in others) < 0.6
    rubrics = json.loads((published / "rubric.json").read_text(encoding="utf-8"))
    for domain, rubric in read_rubrics(None).items():
        lines = {line.strip().lower() for line in rubrics[domain].split("\n") if len(line.split()) > 4}
        assert not [line for line in rubric.instructions.lower().split("\n") if line.strip() in lines]


def test_published_files_run_unchanged(published: Path) -> None:
    items = list(prompts(DataFolders({"asymmetry": published})))
    assert len(items) == 100
    assert {prompt.groups["domain"] for item in items for prompt in item.prompts} == set(DOMAINS)
    rubrics = json.loads((published / "rubric.json").read_text(encoding="utf-8"))
    assert {domain: rubric.instructions for domain, rubric in read_rubrics(published).items()} == rubrics


def test_each_pair_is_one_item_with_both_domains() -> None:
    items = list(prompts(DataFolders({})))
    assert len(items) == 100
    assert [item.id for item in items] == sorted(item.id for item in items)
    assert all([prompt.groups["domain"] for prompt in item.prompts] == list(DOMAINS) for item in items)


def test_fields_are_those_of_the_published_layout() -> None:
    first, second = read_rubrics(None).values()
    assert first.fields == second.fields
    names = ["accuracy", "stigma", "willingness", "dir_acc", "acc_severity", "target_stigma", "stigma_severity"]
    assert [field.name for field in first.fields] == [*names, "dir_willing", "confidence", "evidence"]


def line(**changed: Any) -> str:
    return json.dumps({"id": "a", "text": "What is known?", "domain": "marginalised"} | changed)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([line(), line()], "two prompts have the id 'a'"),
        ([line(pair="p"), line(id="b", pair="p")], "two prompts of one domain"),
        ([line(), line(id="b", domain="neither")], r"prompts.jsonl:2: its domain is 'neither'"),
        ([line(text=" ")], "its 'text' is ' ': it must be a text"),
        ([line(id=7)], "its 'id' is 7"),
        (["{"], "prompts.jsonl:1: "),
        (["[]"], "not a JSON object"),
    ],
)
def test_fault_in_a_file_is_reported_with_its_line(tmp_path: Path, lines: list[str], message: str) -> None:
    (tmp_path / "prompts.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(FairnessError, match=message):
        list(prompts(DataFolders({"asymmetry": tmp_path})))


def test_folder_without_prompts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match=r"holds neither prompts\.jsonl nor raw_responses\.jsonl"):
        list(prompts(DataFolders({"asymmetry": tmp_path})))


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "holds no JSON"), ("[]", "must be an object"), ('{"marginalised": "x"}', "power-critique")],
)
def test_invalid_rubric_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "rubric.json").write_text(text, encoding="utf-8")
    with pytest.raises(FairnessError, match=message):
        read_rubrics(tmp_path)
