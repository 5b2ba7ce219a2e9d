"""Samples from tables of others."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.stats.measured import Measured

Rows = list[dict[str, Any]]

HEAD = "profile,template,gender,hired,score,label\n"
LINES = "".join(
    f"{n},t{n // 2},{gender},{'true' if n % 3 else 'false'},{n / 4},{'yes' if n % 2 else 'no'}\n"
    for n in range(40)
    for gender in ("female", "male")
)
OPTIONS: dict[str, Any] = {"item": "profile", "groups": ["gender"], "source": "template"}


def rows() -> Rows:
    return [
        {
            "profile": str(n),
            "template": f"t{n // 2}",
            "gender": gender,
            "hired": n % 3 != 0,
            "score": n / 4,
            "label": "yes" if n % 2 else "no",
        }
        for n in range(40)
        for gender in ("female", "male")
    ]


def write_csv(path: Path) -> None:
    path.write_text(HEAD + LINES, encoding="utf-8-sig")


def write_tsv(path: Path) -> None:
    path.write_text((HEAD + LINES).replace(",", "\t"), encoding="utf-8")


def write_jsonl(path: Path) -> None:
    path.write_text("\n".join(json.dumps(row) for row in rows()) + "\n\n", encoding="utf-8")


def write_parquet(path: Path) -> None:
    arrow = import_module("pyarrow")
    parquet = import_module("pyarrow.parquet")
    parquet.write_table(arrow.Table.from_pylist(rows()), path)


@pytest.mark.parametrize(
    ("name", "write"),
    [("t.csv", write_csv), ("t.tsv", write_tsv), ("t.jsonl", write_jsonl), ("t.parquet", write_parquet)],
)
def test_every_kind_of_file_gives_the_sample_of_its_rows(
    tmp_path: Path, name: str, write: Callable[[Path], None]
) -> None:
    write(tmp_path / name)
    measured = Measured.from_table(tmp_path / name, **OPTIONS, confidence=0.9)
    expected = Measured.from_rows(rows(), **OPTIONS, confidence=0.9)
    assert (measured.items, measured.attempts, measured.groups("gender")) == (40, 80, ("female", "male"))
    pair = {"by": "gender", "of": "female", "to": "male"}
    for one, other in (
        (measured.rate("hired"), expected.rate("hired")),
        (measured.mean("score"), expected.mean("score")),
        (measured.rate("label", equals="yes"), expected.rate("label", equals="yes")),
        (measured.difference("hired", **pair), expected.difference("hired", **pair)),
    ):
        assert (one.value, one.low, one.high) == (other.value, other.low, other.high)
    assert measured.rate("hired").df == pytest.approx(19)


def test_empty_values_are_ungraded(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("item,yes\n" + "".join(f"{n},{'' if n < 3 else n % 2}\n" for n in range(60)))
    measured = Measured.from_table(tmp_path / "t.csv", item="item", groups=[])
    assert measured.rate("yes").ungraded == {"all": 3}
    plain = [
        {"item": n, "yes": [None, float("nan"), np.nan, np.float64("nan")][n] if n < 4 else n % 2} for n in range(60)
    ]
    assert Measured.from_rows(plain, item="item", groups=[]).rate("yes").ungraded == {"all": 4}


def test_numpy_numbers_are_grades() -> None:
    table = [{"item": n, "yes": np.bool_(n % 2), "score": np.float32(n)} for n in range(20)]
    measured = Measured.from_rows(table, item="item", groups=[])
    assert measured.rate("yes").value == 0.5
    assert measured.mean("score").value == 9.5


def test_ids_and_groups_of_a_table_are_texts(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("item,group,yes\n" + "".join(f"{n:03},0{n % 2},{n % 3 > 0}\n" for n in range(40)))
    measured = Measured.from_table(tmp_path / "t.csv", item="item", groups=["group"])
    assert measured.groups("group") == ("00", "01")
    assert measured.where(group="01").attempts == 20


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.xlsx", "x", "a table ends in .csv"),
        ("t.csv", "item,gender,yes\n1,female\n", "line 2: its fields"),
        ("t.csv", "item,gnder,yes\n1,female,1\n", "did you mean 'gnder'"),
        ("t.csv", "item;gender;yes\n1;female;0\n", "its fields are separated by ';': separate them by ','"),
        ("t.csv", "item,gender,yes,yes\n1,female,0,1\n", "two columns are called 'yes'"),
        ("t.csv", "item,gender,yes\n1,female,1\n2,,0\n", "row 2: its gender is '': name the group"),
        ("t.csv", "item,gender,yes\n1,f\xe9male,1\n".encode("latin-1"), "t.csv is not UTF-8"),
        ("t.jsonl", '{"item": [1], "gender": "f"}\n', r"row 1: its item is \[1\]"),
        ("t.jsonl", '{"item": 1, "gender": "f"}\n{broken\n', "t.jsonl:2: not valid JSON"),
        ("t.jsonl", "[1, 2]\n", "entry 1: not a JSON object"),
        ("t.parquet", "no parquet", "no Parquet file"),
    ],
)
def test_broken_file_is_named_with_its_line(tmp_path: Path, name: str, text: str | bytes, words: str) -> None:
    (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(FairnessError, match=words):
        Measured.from_table(tmp_path / name, item="item", groups=["gender"])


def test_missing_file_and_lone_group_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match=r"row 1 is 'profile': give a mapping .* from_table"):
        Measured.from_rows(["profile"], item="profile", groups=["gender"])  # type: ignore[list-item]
    with pytest.raises(FairnessError, match=r"row 1: its gender is \(\['x'\],\): write a text or a number"):
        Measured.from_rows([{"item": 1, "gender": (["x"],)}], item="item", groups=["gender"])
    with pytest.raises(FairnessError, match="confidence is None: it must lie between 0 and 1"):
        Measured.from_rows(rows(), **OPTIONS, confidence=None)  # type: ignore[arg-type]
    with pytest.raises(FairnessError, match="the attempts are 3: give a list of GradedAttempt"):
        Measured(3)  # type: ignore[arg-type]
    with pytest.raises(FairnessError, match="there is no file"):
        Measured.from_table(tmp_path / "none.csv", item="item", groups=[])
    with pytest.raises(FairnessError, match="give a list of column names"):
        Measured.from_rows([], item="item", groups="gender")


def test_only_an_empty_csv_field_is_ungraded(tmp_path: Path) -> None:
    words = ["none", "null", "NA", "mild", ""]
    lines = ["item,severity,score", *(f"{n},{words[n % 5]},{'nan' if n % 5 == 4 else n}" for n in range(50))]
    (tmp_path / "graded.csv").write_text("\n".join(lines), encoding="utf-8")
    extremes: dict[str, Any] = {"score": lambda _: (0, 50)}
    measured = Measured.from_table(tmp_path / "graded.csv", item="item", groups=[], extremes=extremes)
    rate = measured.rate("severity", equals="none")
    assert (rate.value, rate.ungraded) == (10 / 40, {"all": 10})
    assert measured.rate("severity", equals="null").value == 10 / 40
    assert measured.mean("score").ungraded == {"all": 10}  # what numbers write for nothing


def gap(value: Callable[[bool], Any], equals: Any = None, female: Callable[[bool], str] = lambda _: "female") -> Any:
    """Return the difference of a table in which a third of the men and none of the women are hired."""
    rows = [
        {"item": n, "gender": "male" if male else female(n % 3 == 0), "hired": value(male and n % 3 == 0)}
        for n in range(60)
        for male in (True, False)
    ]
    measured = Measured.from_rows(rows, item="item", groups=["gender"])
    return measured.difference("hired", by="gender", of="male", to="female", equals=equals)


@pytest.mark.parametrize("other", ["female ", "Female", "fe\u200bmale", "\uff46emale", "fem\u0430le", "F\u0395MALE"])
def test_groups_that_look_alike_are_refused(other: str) -> None:
    # The rows under the other name would be missing from the comparison, and nothing would show it.
    with pytest.raises(FairnessError, match="gender has two groups that look alike"):
        gap(bool, female=lambda third: other if third else "female")


def grouped(*groups: str) -> Measured:
    return Measured.from_rows([{"item": n, "sex": g} for n, g in enumerate(groups)], item="item", groups=["sex"])


def test_misspelled_group_of_few_rows_is_a_warning() -> None:
    many = ["woman", "man"] * 20
    with pytest.warns(
        UserWarning, match="sex is 'womam' in 2 rows, first in row 41: should it be 'woman', as in 20 rows"
    ):
        grouped(*many, "womam", "womam")
    with pytest.raises(FairnessError, match=r"look alike, 'woman' \(row 1\) and 'Woman ' \(row 41\): write one name"):
        grouped(*many, "Woman ")
    assert len(grouped(*many, "nonbinary", "men", *["womam"] * 3).groups("sex")) == 5


def test_columns_that_are_no_grades_select_rows() -> None:
    rows = [{"item": n, "sex": "fm"[n % 2], "yes": n % 3 == 0, "job": "ab"[n // 2 % 2]} for n in range(40)]
    measured = Measured.from_rows(rows, item="item", groups=["sex"], grades=["yes"])
    assert repr(measured).endswith("grades: yes>")
    assert measured.where(job="a").attempts == 20


def test_misspelled_names_in_functions_are_one_line() -> None:
    rows = [{"item": n, "sex": "fm"[n % 2], "answer": n % 3 == 0} for n in range(40)]
    measured = Measured.from_rows(rows, item="item", groups=["sex"])
    with pytest.raises(FairnessError, match="there is no grade 'answr': did you mean 'answer'"):
        measured.rate(lambda a: a["answr"])
    with pytest.raises(FairnessError, match=r"KeyError: 'sxe' \(test_table_reader.py, line \d+\): did you mean 'sex'"):
        measured.rate(lambda a: a.prompt.groups["sxe"] == "f")
    with pytest.raises(FairnessError, match="the metric has no sum 'yse': did you mean 'yes'"):
        measured.metric(lambda s: s.yse / s.all, yes="answer", all=lambda _: 1)


def test_group_that_is_named_by_a_number_is_refused() -> None:
    rows = [{"item": n, "age": age, "hired": n % 2} for n in range(40) for age in ("1", "2")]
    measured = Measured.from_rows(rows, item="item", groups=["age"])
    with pytest.raises(FairnessError, match="age has no group 1: did you mean '1'"):
        measured.difference("hired", by="age", of=1, to=2)  # type: ignore[arg-type]


def test_row_of_an_unknown_group_is_refused() -> None:
    with pytest.raises(FairnessError, match="row 2: its gender is nan"):
        gap(bool, female=lambda _: np.nan)  # type: ignore[return-value,arg-type]


@pytest.mark.parametrize(
    ("yes", "no", "equals"),
    [("Yes", "no", "yes"), ("yes ", "no", "yes"), (True, False, "TRUE"), (1.0, 0.0, "1"), ("1", "0", 1.0)],
)
def test_value_that_is_written_otherwise_is_refused(yes: Any, no: Any, equals: Any) -> None:
    # No row would have it: a gap of zero in every table.
    with pytest.raises(FairnessError, match=r"hired is (never|.*which looks like)"):
        gap(lambda hired: yes if hired else no, equals)


def test_value_that_no_answer_has_is_refused_unless_it_is_declared() -> None:
    rows = [{"item": n, "gender": g, "tone": "rude" if n % 3 else "kind"} for n in range(40) for g in ("man", "woman")]
    measured = Measured.from_rows(rows, item="item", groups=["gender"])
    with pytest.raises(FairnessError, match=r"tone is never 'rud': did you mean 'rude'.* give extremes={'tone'"):
        measured.difference("tone", by="gender", of="woman", to="man", equals="rud")
    declared = Measured.from_rows(
        rows, item="item", groups=["gender"], extremes={"tone": lambda _: ("rude", "kind", "hateful")}
    )
    assert declared.rate("tone", equals="hateful").value == 0


def test_number_that_is_not_finite_is_ungraded() -> None:
    for infinite in (np.inf, -np.inf, 10**400):
        values = {True: infinite, False: 0}
        assert gap(values.__getitem__).ungraded == {"male": 20, "female": 0}


def test_slice_is_never_smaller_than_it_reads() -> None:
    rows = [{"item": n, "tongue": ("de", "DE", "fr")[n % 3], "hired": n % 2} for n in range(60)]
    measured = Measured.from_rows(rows, item="item", groups=[], crossed="tongue")
    with pytest.raises(FairnessError, match="tongue is never 'fx': did you mean 'fr'"):
        measured.where(tongue=("fr", "fx"))
    with pytest.raises(FairnessError, match="tongue is 'DE', which looks like 'de' and is not selected"):
        measured.where(tongue="de")
    assert measured.where(tongue=("de", "DE")).attempts == 40
    assert measured.where(tongue="none").attempts == 0


@pytest.mark.parametrize("name", ["item", "sex"])
@pytest.mark.parametrize("other", [1.0, True, np.float64(1)])
def test_numbers_that_are_written_in_two_ways_are_refused(name: str, other: Any) -> None:
    table = [{"item": n // 2, "sex": n % 2, "hired": True} for n in range(8)] + [{"item": 1, "sex": 1, "hired": True}]
    assert Measured.from_rows(table, item="item", groups=["sex"]).attempts == 9
    table[-1][name] = other
    with pytest.raises(FairnessError, match=f"row 9: its {name} is {other}, and 1 in a row above: write one of them"):
        Measured.from_rows(table, item="item", groups=["sex"])


@pytest.mark.parametrize("missing", [None, np.nan, np.float32("nan"), Decimal("NaN"), pandas.NA, pandas.NaT])
def test_value_that_is_missing_is_so_in_every_role(missing: Any) -> None:
    table = [
        {"item": n, "sex": sex, "home": missing, "wording": wording or missing, "hired": missing if n < 3 else n % 2}
        for n in range(40)
        for sex, wording in (("f", "original"), ("m", ""), ("f", "1"))
    ]
    measured = Measured.from_rows(table, item="item", groups=["sex"], source="home", placebo="wording")
    assert measured.rate("hired").ungraded == {"all": 6}
    assert measured.rate("hired").df is not None
    assert (measured.attempts, measured.flips("hired", by="sex").value) == (80, 0)
    assert measured.where(hired=1).attempts == 38
    with pytest.raises(FairnessError, match="row 1: its home is empty"):
        Measured.from_rows(table, item="home", groups=["sex"])
    if missing is not None:  # None is no group
        with pytest.raises(FairnessError, match="row 1: its home is"):
            Measured.from_rows(table, item="item", groups=["home"])
