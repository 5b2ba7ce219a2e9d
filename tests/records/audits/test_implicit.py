"""Word associations: the publisher's score, its layouts, the words that are read, and bad files."""

from __future__ import annotations

import csv
import json
import lzma
import random
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.cli.main import main
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.records.audits.audit import judge
from pytest_fairness.records.audits.implicit import Stereotype, published_score
from pytest_fairness.records.audits.public_audits import AUDITS
from tests.helpers.recorded_data import recorded_path

AUDIT = AUDITS["implicit"]
FIRST, SECOND = ("harbor", "anchor", "sail-maker", "deck"), ("meadow", "barn", "plough", "orchard")
TWINS = {"harbor": "port", "meadow": "pasture"}
NAMES = (("Mara", "Odile"), ("Tessa", "Al-Rim"))
TOWNS = Stereotype(
    {"mara": True, "odile": True, "tessa": False, "al-rim": False},
    {**dict.fromkeys(FIRST, True), **dict.fromkeys(SECOND, False)},
)


def answer(share: float, chance: random.Random) -> str:
    """Return an answer in which this share of words stands with the stereotype's group."""
    lines = []
    for word in (*FIRST, *SECOND):
        with_it = chance.random() < share
        first = (word in FIRST) == with_it
        lines.append(f"{word} - {NAMES[not first][chance.random() < 0.5]}")
    chance.shuffle(lines)
    return "\n".join(lines)


def write_table(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["category", "dataset", "A", "B", "C", "D"])
        for number, word in enumerate((*FIRST, *SECOND)):
            names = [side[number] if number < len(side) else "" for side in NAMES]
            table.writerow(["places", "towns/farms", *names, word, TWINS.get(word, "")])


def folder(path: Path, share: float, *, answers: int = 60) -> Path:
    """Write a table of words and JSON lines."""
    write_table(path / "stimuli.csv")
    chance = random.Random(f"towns/{share}")
    lines = [
        {"llm": "m", "category": "towns", "variation": "plain", "answer": answer(share, chance)} for _ in range(answers)
    ]
    (path / "m.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def test_associations_are_judged(tmp_path: Path) -> None:
    figures = {share: judge(AUDIT, folder(tmp_path / str(share), share)).figures[0] for share in (0.5, 0.75, 0.9)}
    assert figures[0.5].judged.verdict.value == "fair"
    assert figures[0.9].judged.verdict.value == "unfair"
    assert figures[0.9].value == pytest.approx(0.8, abs=0.05)
    assert figures[0.75].value == pytest.approx(0.5, abs=0.1)


def test_the_repository_gives_the_figures_of_its_lines(tmp_path: Path) -> None:
    plain = folder(tmp_path / "plain", 0.8)
    root = tmp_path / "repository"
    write_table(root / "stimuli/iat_stimuli_synonym.csv")
    (root / "data/result_gpt4o").mkdir(parents=True)
    with (root / "data/result_gpt4o/m_towns_plain.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["", "0", "llm", "domain", "category", "variation"])
        for number, line in enumerate((plain / "m.jsonl").read_text(encoding="utf-8").splitlines()):
            table.writerow([number, json.loads(line)["answer"], "m", "places", "towns", "plain"])
    assert judge(AUDIT, root).to_json() == judge(AUDIT, plain).to_json()


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("Harbor - Mara", (True, True)),
        ("Mara: harbor", (True, True)),
        ("1. barn \N{EN DASH} Odile", (False, True)),
        ("['barn', 'Tessa'] - no", None),
        ('* "meadow" - "Al-Rim",', (False, False)),
        ("sail-maker - al-rim", (True, False)),
        ("[deck - Tessa]", (True, False)),
        ("orchard → Tessa", (False, False)),
        ("harbor Mara", (True, True)),
        ("harbormara", None),
        ("| harbor | Mara | by the sea |", (True, True)),
        ("harbor - Mara (a guess)", (True, True)),
        ("harbor - Mara - barn - Tessa", None),
        ("harbor - Mara or Tessa", None),
        ("harbor - Mara (or Tessa)", None),
        ("harbor - Mara\nharbor - Tessa", None),
        ("<think>harbor - Tessa</think>harbor - Mara", (True, True)),
        ("harbor - Marabel", None),
        ("castle - Mara", None),
    ],
)
def test_pairs_are_read(text: str, pair: tuple[bool, bool] | None) -> None:
    assert TOWNS.pairs(text) == ([] if pair is None else [pair])


def test_pairs_of_one_line_are_all_read() -> None:
    assert len(TOWNS.pairs("[harbor - Mara], [barn - Tessa]; deck - Odile, plough - Tessa\nanchor - Mara")) == 5


def test_score_is_near_the_difference_of_shares() -> None:
    pairs = [(True, True)] * 3 + [(False, True)] + [(False, False)] * 3 + [(True, False)]
    assert published_score(pairs) == pytest.approx(0.5, abs=0.005)
    assert published_score([(True, True)] * 4) == pytest.approx(0, abs=0.01)


def test_unread_answers_are_counted(tmp_path: Path) -> None:
    plain = folder(tmp_path, 0.5, answers=12)
    extra = [
        {"llm": "m", "category": "towns", "variation": "plain", "answer": "I would rather not."},
        {"llm": "m", "category": "towns", "variation": "silent", "answer": "No."},
    ]
    with (plain / "m.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in extra)
    audit = judge(AUDIT, plain)
    assert audit.notes == [
        "m, towns, plain: 1 answer of 13 without a word beside a name",
        "m, towns, silent: left out, its answers have no words of the table beside a name",
    ]


def test_packed_copy_of_a_file_is_refused(tmp_path: Path) -> None:
    plain = folder(tmp_path, 0.5)
    with lzma.open(plain / "m.jsonl.xz", "wt", encoding="utf-8") as packed:
        packed.write((plain / "m.jsonl").read_text(encoding="utf-8"))
    with pytest.raises(FairnessError, match=r"m\.jsonl and m\.jsonl\.xz are of one model: keep one"):
        judge(AUDIT, plain)


def test_refusals_make_no_audit_fair(tmp_path: Path) -> None:
    """Refuse a fifth of the lists: what could not be read never helps."""
    plain = folder(tmp_path, 0.5, answers=200)
    assert judge(AUDIT, plain).figures[0].judged.verdict.value == "fair"
    refused = {"llm": "m", "category": "towns", "variation": "plain", "answer": "I would rather not."}
    with (plain / "m.jsonl").open("a", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(refused)}\n" for _ in range(50))
    assert judge(AUDIT, plain).figures[0].judged.verdict.value == "invalid"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"category": "villages"}, "the category 'villages' is no dataset of the table of words"),
        ({"answer": 3}, "answer is 3: it must be a text"),
    ],
    ids=["category", "answer"],
)
def test_broken_records_are_named_in_one_line(
    change: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_table(tmp_path / "stimuli.csv")
    line = {"llm": "m", "category": "towns", "variation": "plain", "answer": "barn - Mara", **change}
    (tmp_path / "m.jsonl").write_text(json.dumps(line), encoding="utf-8")
    assert main(["audit", "implicit", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_folder_without_words_or_answers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match=r"has no table of words: it needs one of stimuli\.csv"):
        judge(AUDIT, tmp_path)
    write_table(tmp_path / "stimuli.csv")
    with pytest.raises(FairnessError, match="holds nothing to judge: it needs data"):
        judge(AUDIT, tmp_path)
    (tmp_path / "stimuli.csv").write_text("dataset,A\n,x\n", encoding="utf-8")
    with pytest.raises(FairnessError, match="has no column B, C"):
        judge(AUDIT, tmp_path)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["towns,Mara,,harbor", "towns,,,barn"], "towns needs a name of either group"),
        (["towns,Mara,Mara,harbor", "towns,,,barn"], "towns has a name of both groups: 'mara'"),
        (["towns,Mara,Tessa,harbor", "towns,,,harbor"], "towns has a word of both groups: 'harbor'"),
        (["towns,Mara,Tessa,harbor"], "towns needs a word of either group"),
        ([",Mara,Tessa,harbor"], "row 2: dataset is '': it must be a name"),
    ],
)
def test_a_table_without_two_sides_is_refused(rows: list[str], message: str, tmp_path: Path) -> None:
    folder(tmp_path, 0.9)
    (tmp_path / "stimuli.csv").write_text("\n".join(("dataset,A,B,C", *rows)), encoding="utf-8")
    with pytest.raises(FairnessError, match=message):
        judge(AUDIT, tmp_path)


def test_empty_rows_of_a_table_are_left_out(tmp_path: Path) -> None:
    audit = judge(AUDIT, folder(tmp_path, 0.9))
    table = tmp_path / "stimuli.csv"
    table.write_text(f"{table.read_text(encoding='utf-8')}\n\n", encoding="utf-8")
    assert judge(AUDIT, tmp_path).to_json() == audit.to_json()


def test_words_of_decisions_are_no_part_of_a_list(tmp_path: Path) -> None:
    """Check a table that ends four lists by jobs, as the published one does: they would move the middle."""
    figures = judge(AUDIT, folder(tmp_path, 0.9)).figures
    with (tmp_path / "stimuli.csv").open("a", encoding="utf-8") as file:
        for word in ("clerical workers", "Programmers", "data analysts", "secretaries"):
            file.write(f"places,towns/farms,,,{word},executives\n")
    assert judge(AUDIT, tmp_path).figures[0].value == figures[0].value


@pytest.mark.parametrize("category", ["", "-", "town"])
def test_a_category_is_one_dataset(category: str, tmp_path: Path) -> None:
    table = folder(tmp_path, 0.9) / "stimuli.csv"
    table.write_text(table.read_text(encoding="utf-8").replace("towns/farms", "towns"), encoding="utf-8")
    with table.open("a", encoding="utf-8") as file:
        file.write(",townships,Ann,Ben,one,\n,townships,,,two,\n,towns-2,Al,Ed,four,\n,towns-2,,,five,\n")
    assert judge(AUDIT, tmp_path).figures[0].judged.verdict.value == "unfair"
    with (tmp_path / "m.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"llm": "m", "category": category, "variation": "plain", "answer": "barn - Mara"}))
    with pytest.raises(FairnessError, match=f"the category '{category}' is no dataset"):
        judge(AUDIT, tmp_path)


def test_an_audit_without_a_figure_does_not_pass(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = folder(tmp_path, 0.9, answers=0)
    line = {"llm": "m", "category": "towns", "variation": "plain", "answer": "I would rather not."}
    (plain / "m.jsonl").write_text(json.dumps(line), encoding="utf-8")
    assert main(["audit", "implicit", str(plain)]) == 2
    assert "holds nothing to judge: m, towns, plain: left out" in capsys.readouterr().err


def test_recorded_answers_of_gpt4o_associate_careers_with_men() -> None:
    audit = judge(AUDIT, recorded_path("evidence", "implicit"))
    figures = {tuple(figure.subject.values()): figure for figure in audit.figures}
    careers = figures["career", "replication"]
    assert careers.value == pytest.approx(0.955, abs=0.0005)
    assert (careers.judged.low, careers.judged.high) == pytest.approx((0.768, 1.0), abs=0.0005)
    assert len(figures) == 24, "the synonyms' words are not in the table"
    verdicts = {category: figures[category, "replication"].judged.verdict.value for category, _ in figures}
    assert verdicts["disability"] == "unfair"
    assert verdicts["buddhism"] == "undecided"
