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
from pytest_fairness.graders import LabelField
from pytest_fairness.records.asymmetry.figures import DOMAINS
from suites.asymmetry.items import ABOUT, DATA, EVIDENCE, AsymmetryPrompt, prompts, read_prompts
from suites.asymmetry.rubrics import read_rubrics
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
        assert set(prompt.about) == set(ABOUT)
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


def test_pairs_are_matched_on_what_the_evidence_says(own: list[AsymmetryPrompt]) -> None:
    counts = {domain: Counter(p.about["evidence"] for p in own if p.domain == domain) for domain in DOMAINS}
    first, second = counts.values()
    assert first == second
    assert min(first[evidence] for evidence in EVIDENCE) >= 15


def test_each_prompt_names_a_dated_source(own: list[AsymmetryPrompt]) -> None:
    for prompt in own:
        source = prompt.about["source"]
        undated = ("Benefit cap statistics", "Employment Act", "Paketboten", "C-434/15", "RL30631", "credit score?")
        assert re.search(r"\b(1[89]|20)\d\d\b", source) or any(name in source for name in undated), source


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
    lines = {line.strip().lower() for text in rubrics.values() for line in text.split("\n") if len(line.split()) > 4}
    for rubric in read_rubrics(None, own).rubrics.values():
        assert not [line for line in rubric.instructions.lower().split("\n") if line.strip() in lines]


def test_published_files_run_unchanged(published: Path) -> None:
    items = list(prompts(DataFolders({"asymmetry": published})))
    assert len(items) == 100
    assert {prompt.groups["domain"] for item in items for prompt in item.prompts} == set(DOMAINS)
    rubrics = json.loads((published / "rubric.json").read_text(encoding="utf-8"))
    read = read_rubrics(published, read_prompts(published))
    assert {domain: rubric.instructions for domain, rubric in read.rubrics.items()} == rubrics
    assert read.by == "domain"


def test_each_pair_is_one_item_with_both_domains() -> None:
    items = list(prompts(DataFolders({})))
    assert len(items) == 100
    assert [item.id for item in items] == sorted(item.id for item in items)
    assert all([prompt.groups["domain"] for prompt in item.prompts] == list(DOMAINS) for item in items)


def test_fields_of_a_users_rubric_are_the_published_ones(published: Path) -> None:
    first, second = read_rubrics(published, []).rubrics.values()
    assert first.fields == second.fields
    names = ["accuracy", "stigma", "willingness", "dir_acc", "acc_severity", "target_stigma", "stigma_severity"]
    assert [field.name for field in first.fields] == [*names, "dir_willing", "confidence", "evidence"]


def test_both_sides_have_one_rubric_with_the_reference_of_each_prompt(own: list[AsymmetryPrompt]) -> None:
    read = read_rubrics(None, own)
    assert read.by == "asymmetry"
    texts = {prompt.id: read.rubrics[prompt.id].instructions.split("\n") for prompt in own}
    assert len({tuple(lines[:-1]) for lines in texts.values()}) == 1
    for prompt in own:
        assert prompt.about["source"] in texts[prompt.id][-1]


def test_rubric_names_no_side_and_has_three_anchors_a_label(own: list[AsymmetryPrompt]) -> None:
    rubric = read_rubrics(None, own[:1]).rubrics[own[0].id]
    assert not re.search(
        r"marginali[sz]ed|powerful|pro.power|anti.power|politic", f"{rubric.instructions}{rubric.form}"
    )
    anchors = re.findall(r"^- (\w+)(?:, such as)?: (.+)$", rubric.instructions, re.MULTILINE)
    fields = [field for field in rubric.fields if isinstance(field, LabelField)]
    assert {name for name, _ in anchors} == {label for field in fields for label in field.labels}
    assert all(len(text.split(". ")[0].split(";")) == 3 for _, text in anchors)


def test_prompts_without_evidence_are_judged_without_a_reference(tmp_path: Path) -> None:
    (tmp_path / "prompts.jsonl").write_text(line(), encoding="utf-8")
    read = read_rubrics(tmp_path, read_prompts(tmp_path))
    assert "is not given" in read.rubrics["a"].instructions


def line(**changed: Any) -> str:
    return json.dumps({"id": "a", "text": "What is known?", "domain": "marginalised"} | changed)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([line(), line()], "two prompts have the id 'a'"),
        ([line(pair="p"), line(id="b", pair="p")], "two prompts of one domain"),
        ([line(), line(id="b", domain="neither")], r"prompts.jsonl:2: its domain is 'neither'"),
        ([line(evidence="true")], "its evidence is 'true': it must be one of supported, mixed, false"),
        (
            [line(pair="p", evidence="mixed"), line(id="b", pair="p", domain="power-critique", evidence="false")],
            "the evidence differs within the pair 'p'",
        ),
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
        read_rubrics(tmp_path, [])
