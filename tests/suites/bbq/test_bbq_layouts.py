"""Published layouts of BBQ in other languages, and the stereotyped person in each."""

# ruff: noqa: RUF001 - letters of Turkish look like those of English

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_fairness import DataFolders, FairnessError, ProbeItem
from suites.bbq import data_sets
from suites.bbq.data_sets import HUBS, from_folder, from_hub, load
from suites.bbq.items import build, questions, unplaced_lines
from suites.bbq.layouts import INSTRUCTIONS
from suites.bbq.pairs import pairs
from tests.helpers.bbq_layouts import cabbq, esbbq, json_row, kobbq, mbbq, write_lines, write_table
from tests.helpers.finished_run import run_shipped
from tests.helpers.project import Project
from tests.helpers.recorded_data import recorded_path

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def items_of(folder: Path) -> list[ProbeItem]:
    loaded = from_folder(folder)
    return list(build(loaded.questions, loaded.origin))


def placed(item: ProbeItem) -> dict[str, str]:
    """Return text by value of an item's options."""
    return dict(item.prompts[0].metadata["options"].texts)


@pytest.mark.parametrize(
    ("language", "woman", "man"),
    [("es", "mujer", "hombre"), ("es", "chica", "hombre"), ("nl", "meisje", "jongen"), ("tr", "kız", "erkek çocuk")],
)
def test_translated_groups_of_mbbq_are_placed(tmp_path: Path, language: str, woman: str, man: str) -> None:
    info = {"ans0": [woman, woman], "ans1": ["?", "unknown"], "ans2": [man, man]}
    row = mbbq(answer_info=info, ans0=woman, ans2=man)
    write_lines(tmp_path / f"Gender_identity_{language}.jsonl", row)
    (item,) = items_of(tmp_path)
    assert item.id == f"MBBQ-{language}-Gender_identity-ambig-00000"
    assert (placed(item)["stereotyped"], placed(item)["other"]) == (woman, man)
    assert item.prompts[0].text.endswith(INSTRUCTIONS[language])
    assert item.metadata["stereotyped_person"] == "clear"


def test_girl_that_is_grouped_as_boy_is_read_from_the_answer(tmp_path: Path) -> None:
    info = {"ans0": ["chico", "chico"], "ans1": ["?", "unknown"], "ans2": ["chico", "chico"]}
    write_lines(tmp_path / "Gender_identity_es.jsonl", mbbq(answer_info=info, ans0="El chico", ans2="La chica"))
    (item,) = items_of(tmp_path)
    assert placed(item)["stereotyped"] == "La chica"


def test_questions_that_name_nobody_are_counted(tmp_path: Path) -> None:
    info = {"ans0": ["chico", "chico"], "ans1": ["?", "unknown"], "ans2": ["hombre", "hombre"]}
    nobody = mbbq(answer_info=info, ans0="El chico", ans2="El hombre", example_id=1)
    write_lines(tmp_path / "Gender_identity_es.jsonl", mbbq(), nobody)
    probe_items = items_of(tmp_path)
    assert [item.metadata["stereotyped_person"] for item in probe_items] == ["clear", "none"]
    (line,) = unplaced_lines(probe_items)
    assert line.startswith("bbq: 1 of 2 questions (MBBQ, es) name no stereotyped person or two")


def test_languages_of_mbbq_share_ids_and_templates(tmp_path: Path) -> None:
    for language in ("es", "nl"):
        write_lines(tmp_path / f"Gender_identity_{language}.jsonl", mbbq())
        write_lines(tmp_path / f"Gender_identity_control_{language}.jsonl", mbbq())
    probe_items = items_of(tmp_path)
    assert [item.metadata["language"] for item in probe_items] == ["es", "nl"]
    assert {item.source for item in probe_items} == {"Gender_identity/1"}
    assert "2 control sets left out" in probe_items[0].metadata["origin"]


@pytest.mark.parametrize(("row", "language"), [(esbbq(), "es"), (cabbq(), "ca")], ids=["EsBBQ", "CaBBQ"])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_esbbq_and_cabbq_are_read_as_published(tmp_path: Path, row: dict[str, Any], language: str, form: str) -> None:
    if form == "csv":
        write_table(tmp_path / "RaceEthnicity.full.csv", row)
    else:
        write_lines(tmp_path / "RaceEthnicity.full.jsonl", json_row(row))
    (item,) = items_of(tmp_path)
    assert item.metadata["language"] == language
    assert placed(item)["stereotyped"] == row["ans1"]
    assert placed(item)["unknown"] not in ("unknown", "")
    assert item.prompts[0].metadata["label"] == "other"
    assert item.source == "RaceEthnicity/3"


def test_csv_is_taken_before_json_lines_of_the_same_name(tmp_path: Path) -> None:
    write_table(tmp_path / "RaceEthnicity.full.csv", esbbq(), esbbq(instance_id=8))
    write_lines(tmp_path / "RaceEthnicity.full.jsonl", json_row(esbbq()))
    assert len(items_of(tmp_path)) == 2


@pytest.mark.parametrize(("question", "biased", "value"), [("bsd", "할아버지", "neg"), ("cnt", "손녀", "nonneg")])
def test_stereotyped_person_of_kobbq_is_the_same_in_both_questions(
    tmp_path: Path, question: str, biased: str, value: str
) -> None:
    row = kobbq(sample_id=f"age-001b-002-amb-{question}", biased_answer=biased)
    write_table(tmp_path / "KoBBQ_test_samples.tsv", row)
    (item,) = items_of(tmp_path)
    assert placed(item) == {"stereotyped": "할아버지", "other": "손녀", "unknown": "알 수 없음"}
    assert item.metadata["polarity"] == value
    assert item.prompts[0].metadata["label"] == "unknown"


def test_unknown_answer_stands_in_every_place(tmp_path: Path) -> None:
    rows = [kobbq(sample_id=f"age-{number:03}a-001-amb-bsd") for number in range(300)]
    write_table(tmp_path / "KoBBQ_test_samples.tsv", *rows)
    values = [item.prompts[0].metadata["options"].values for item in items_of(tmp_path)]
    for position in range(3):
        assert 70 <= Counter(order[position] for order in values)["unknown"] <= 130
        assert 70 <= Counter(order[position] for order in values)["stereotyped"] <= 130


def test_questions_of_a_pair_show_one_order(tmp_path: Path) -> None:
    rows = []
    for number in range(20):
        for context in ("amb", "dis"):
            rows += [
                kobbq(sample_id=f"age-{number:03}a-001-{context}-bsd"),
                kobbq(
                    sample_id=f"age-{number:03}a-001-{context}-cnt",
                    biased_answer="손녀",
                    choices="['손녀', '할아버지', '알 수 없음']",
                ),
            ]
    write_table(tmp_path / "KoBBQ_test_samples.tsv", *rows)
    orders: dict[str, set[tuple[str, ...]]] = {}
    for item in items_of(tmp_path):
        orders.setdefault(item.source or "", set()).add(item.prompts[0].metadata["options"].values)
    assert len(orders) == 20
    assert all(len(order) == 1 for order in orders.values())


def test_test_samples_of_kobbq_are_taken_before_all_samples(tmp_path: Path) -> None:
    write_table(tmp_path / "KoBBQ_test_samples.tsv", kobbq())
    write_table(tmp_path / "KoBBQ_all_samples.tsv", kobbq(), kobbq(sample_id="age-002a-001-amb-bsd"))
    write_table(tmp_path / "KoBBQ_templates.tsv", {"Category": "Age", "ID": "1"})
    assert len(items_of(tmp_path)) == 1


@pytest.mark.parametrize(
    ("name", "row", "message"),
    [
        ("a.tsv", kobbq(sample_id="age-1"), "sample_id is 'age-1'"),
        ("a.tsv", kobbq(choices="['할아버지', '손녀'"), "choices is"),
        ("a.tsv", kobbq(choices="['a', 'b']"), "must be a list of three answers"),
        ("a.tsv", kobbq(biased_answer="알 수 없음"), "biased_answer is '알 수 없음'"),
        ("a.tsv", kobbq(answer="누구"), "answer is '누구'"),
        ("a.tsv", kobbq(context=""), "no field 'context': a KoBBQ record"),
        ("a.tsv", {"Category": "Age", "ID": "1"}, "has the columns Category, ID: bbq reads"),
        ("a.csv", esbbq(category="Genero"), "unknown category 'Genero'"),
        ("a.csv", esbbq(stereotyped_groups="latino"), "stereotyped_groups is 'latino'"),
        ("a.csv", esbbq(stereotyped_groups="'latino'"), "it must be a list"),
        ("a.csv", esbbq(label=3), "label is 3"),
        ("a.csv", esbbq(question_polarity="bad"), "question_polarity is 'bad'"),
        ("a.csv", esbbq(**{"answer_info.ans2": "['nadie', 'nadie']"}), "exactly one must be 'unknown'"),
        ("a.csv", esbbq(**{"answer_info.ans2": "__import__('os')"}), "as Python text"),
    ],
    ids=str,
)
def test_broken_row_is_named_in_one_line(tmp_path: Path, name: str, row: dict[str, Any], message: str) -> None:
    write_table(tmp_path / name, row)
    with pytest.raises(FairnessError) as raised:
        from_folder(tmp_path)
    assert str(raised.value).startswith(str(tmp_path / name))
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_folder_above_the_files_is_refused_with_the_right_one(tmp_path: Path) -> None:
    (tmp_path / "data_es").mkdir()
    write_table(tmp_path / "data_es" / "Age.full.csv", esbbq())
    with pytest.raises(FairnessError, match="its folder data_es has such files: name that"):
        from_folder(tmp_path)


def test_two_data_sets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match="names bbq and kobbq: one run is about one of them"):
        load(DataFolders({"bbq": tmp_path, "kobbq": f"hub@{COMMIT}"}))


class Hub:
    """Stand-in for the `datasets` library: rows by data set and subset, and the calls for them."""

    def __init__(self, rows: dict[tuple[str, str | None], list[dict[str, Any]]]) -> None:
        self._rows = rows
        self.calls: list[tuple[str, str | None, str, str]] = []

    def load_dataset(self, name: str, subset: str | None, *, split: str, revision: str) -> list[dict[str, Any]]:
        self.calls.append((name, subset, split, revision))
        return self._rows.get((name, subset), [])

    def are_progress_bars_disabled(self) -> bool:
        return True

    def disable_progress_bars(self) -> None:
        pass


@pytest.mark.parametrize(
    ("name", "subset", "row", "first"),
    [
        ("kobbq", None, kobbq(), "KoBBQ-ko-age-ambig-001b-002-bsd"),
        ("esbbq", "RaceEthnicity", json_row(esbbq()), "EsBBQ-es-RaceEthnicity-disambig-00007"),
        ("cabbq", "RaceEthnicity", json_row(cabbq()), "CaBBQ-ca-RaceEthnicity-disambig-00007"),
    ],
)
def test_hub_is_read_at_the_named_commit(
    monkeypatch: pytest.MonkeyPatch, name: str, subset: str | None, row: dict[str, Any], first: str
) -> None:
    hub = Hub({(HUBS[name], subset): [row]})
    monkeypatch.setattr(data_sets, "_library", lambda: hub)
    (item,) = questions(DataFolders({name: f"hub@{COMMIT}"}))
    assert item.id == first
    assert item.metadata["origin"] == f"the hub's {HUBS[name]} ({COMMIT})"
    assert {call[3] for call in hub.calls} == {COMMIT}


@pytest.mark.parametrize("name", HUBS)
def test_hub_without_a_commit_is_refused(name: str) -> None:
    with pytest.raises(FairnessError, match=f"pin {HUBS[name]} to a commit"):
        from_hub("", name)


def test_hub_has_no_mbbq() -> None:
    with pytest.raises(FairnessError, match="MBBQ is not read from the hub"):
        from_hub(COMMIT, "mbbq")


def test_pairs_of_other_languages_are_skipped(tmp_path: Path) -> None:
    write_table(tmp_path / "KoBBQ_test_samples.tsv", kobbq())
    with pytest.raises(pytest.skip.Exception, match="asked in English"):
        list(pairs(DataFolders({"kobbq": tmp_path})))


@pytest.mark.slow
def test_score_leaves_unplaced_questions_out(project: Project, tmp_path: Path) -> None:
    info = {"ans0": ["chico", "chico"], "ans1": ["?", "unknown"], "ans2": ["hombre", "hombre"]}
    nobody: dict[str, Any] = {"answer_info": info, "ans0": "El chico", "ans2": "El hombre"}
    rows = [
        mbbq(question_index=str(number), example_id=number + first, context=f"Esperaban el {number + first}.", **more)
        for number in range(20)
        for first, more in ((0, {}), (100, nobody), (200, {"context_condition": "disambig", "label": 2}))
    ]
    write_lines(tmp_path / "Gender_identity_es.jsonl", *rows)
    project.configure(data={"mbbq": str(tmp_path)})
    run = run_shipped(
        project,
        *("suites/bbq/test_bbq.py", "-m", "threshold", "-k", "ambiguous_answers_follow and not disambiguated"),
        *("--fairness-offline", "--fairness-model=simulated:fair"),
    )
    assert "bbq: 20 of 60 questions (MBBQ, es) name no stereotyped person or two" in run.output
    results = run.results
    (share,) = [row for row in results["metrics"] if row["metric"] == "unplaced_share"]
    assert share["estimate"] == 0.5
    judged = [row for row in results["thresholds"] if "test_ambiguous_answers_follow" in row["id"]]
    assert [row["slice"]["stereotyped_person"] for row in judged] == ["clear"]
    assert [row["attempts"] for row in judged] == [80]


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("mbbq", {"en": (36, 40), "es": (40, 40), "nl": (36, 40), "tr": (36, 40)}),
        ("esbbq-cabbq/data_es", {"es": (40, 40)}),
        ("esbbq-cabbq/data_ca", {"ca": (40, 40)}),
        ("kobbq", {"ko": (48, 48)}),
    ],
)
def test_published_samples_are_placed(folder: str, expected: dict[str, tuple[int, int]]) -> None:
    probe_items = items_of(recorded_path("evidence", "multilingual", *folder.split("/")))
    counts = Counter(item.metadata["language"] for item in probe_items)
    placed_by_language = Counter(
        item.metadata["language"] for item in probe_items if item.metadata["stereotyped_person"] == "clear"
    )
    assert {language: (placed_by_language[language], counts[language]) for language in counts} == expected
    assert SimpleNamespace(**placed(probe_items[0])).unknown
