"""The list of names, how a profile's names are drawn from it, and a list of one's own."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from pytest_fairness import DataFolders, FairnessError
from pytest_fairness.core.shipped_files import shipped_file
from pytest_fairness.counterfactual.name_lists import GENDERS, NameList
from suites.hiring.items import applications, shortlists
from tests.helpers.recorded_data import recorded_path

SHIPPED = shipped_file("names", "first_names.csv")
ETHNICITIES = ("asian", "black", "hispanic", "middle eastern", "white")


def rows() -> list[dict[str, str]]:
    with SHIPPED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_group_has_at_least_30_names() -> None:
    groups = Counter((row["gender"], row["ethnicity"]) for row in rows())
    assert groups == {(gender, ethnicity): 32 for gender in GENDERS for ethnicity in ETHNICITIES}
    assert len({(row["name"], row["surname"]) for row in rows()}) == 320


def test_names_have_their_source() -> None:
    for row in rows():
        assert row["source"]
        if row["ethnicity"] == "middle eastern":
            assert not any(row[column] for column in ("count", "share", "first_year", "last_year"))
        else:
            assert int(row["count"]) >= 30
            assert 0.6 <= float(row["share"]) <= 1
            assert 2011 <= int(row["first_year"]) <= int(row["last_year"]) <= 2021


def test_list_is_built_from_the_published_file(tmp_path: Path) -> None:
    published = recorded_path("hiring", "Popular_Baby_Names.csv")
    for name in ("make.py", "common.csv"):
        (tmp_path / name).write_bytes((SHIPPED.parent / name).read_bytes())
    subprocess.run([sys.executable, tmp_path / "make.py", published], check=True)
    assert (tmp_path / "first_names.csv").read_text("utf-8") == SHIPPED.read_text("utf-8")


def test_repeated_rows_and_cut_labels_count_once() -> None:
    published = recorded_path("hiring", "Popular_Baby_Names.csv")
    with published.open(encoding="utf-8", newline="") as file:
        lines = {tuple(row.values()) for row in csv.DictReader(file)}
    # Counted here by other means than make.py does.
    isla = sum(
        int(count)
        for _, gender, ethnicity, name, count, _ in lines
        if (gender, name.upper()) == ("FEMALE", "CAMILA") and ethnicity == "HISPANIC"
    )
    charlotte = {
        (year, int(count))
        for year, gender, ethnicity, name, count, _ in lines
        if (gender, name.upper()) == ("FEMALE", "CHARLOTTE") and ethnicity.startswith("WHITE NON HISP")
    }
    by_name = {(row["name"], row["ethnicity"]): int(row["count"]) for row in rows() if row["count"]}
    assert by_name["Camila", "hispanic"] == isla
    assert by_name["Charlotte", "white"] == sum(count for _, count in charlotte)


def test_names_are_drawn_for_every_profile() -> None:
    items = list(applications())
    drawn = [tuple(prompt.metadata["name"] for prompt in item.prompts) for item in items]
    assert len(set(drawn)) == len(items)
    used = Counter(name for names in drawn for name in names)
    assert len(used) == 320
    assert max(used.values()) <= 20
    assert drawn == [tuple(prompt.metadata["name"] for prompt in item.prompts) for item in applications()]


def test_draw_takes_the_same_frequency_rank_in_every_group() -> None:
    names = NameList.read()
    rank = {name.text: number for g in GENDERS for e in ETHNICITIES for number, name in enumerate(names.of((g, e)))}
    for key in ("a", "b", "c"):
        drawn = names.drawn(key, "balanced", "balanced", 2)
        for draw in (0, 1):
            ranks = {rank[n.text] for n, number in drawn if number == draw and n.ethnicity != "middle eastern"}
            assert len(ranks) == 1


def test_names_of_a_shortlist_are_equally_long() -> None:
    names = NameList.read()
    lengths, used = Counter[int](), Counter[tuple[str, str]]()
    for number in range(400):
        people = names.of_one_length(str(number), GENDERS[number % 2])
        assert [name.ethnicity for name in people] == sorted(ETHNICITIES)
        assert {name.gender for name in people} == {GENDERS[number % 2]}
        (length,) = {len(name.text) for name in people}
        lengths[length] += 1
        used.update((name.ethnicity, name.text) for name in people)
    assert len(lengths) >= 4
    assert min(Counter(ethnicity for ethnicity, _ in used).values()) >= 30


def test_names_of_a_shortlist_are_as_alike_in_length_as_a_list_allows(tmp_path: Path) -> None:
    texts = {
        "a": ("Bo", "Annabelle"),
        "b": ("Maximilian", "Al"),
        "c": ("Li", "Josephine"),
        "d": ("Ada",),
        "e": ("Ivy",),
    }
    lines = [f"{text},{gender},{group}" for gender in GENDERS for group, both in texts.items() for text in both]
    names = NameList.read(own(tmp_path, "\n".join(["name,gender,ethnicity", *lines])).folder("hiring"))
    drawn = {tuple(name.text for name in names.of_one_length(str(key), "male")) for key in range(20)}
    assert drawn == {("Bo", "Al", "Li", "Ada", "Ivy")}


@pytest.mark.parametrize("gender", ["mixed", "male", "female", "balanced"])
@pytest.mark.parametrize("ethnicity", ["mixed", *ETHNICITIES, "balanced"])
def test_modes_balance_or_fix_the_groups(gender: str, ethnicity: str) -> None:
    items = list(applications(count=20, gender=gender, ethnicity=ethnicity))
    counts = [Counter((p.groups["gender"], p.groups["ethnicity"]) for p in item.prompts) for item in items]
    genders = 2 if gender in ("mixed", "balanced") else 1
    ethnicities = 5 if ethnicity in ("mixed", "balanced") else 1
    assert {count.total() for count in counts} == {2 * genders * ethnicities}
    total = sum(counts, Counter[tuple[str, str]]())
    assert {key[0] for key in total} == ({gender} if genders == 1 else set(GENDERS))
    assert {key[1] for key in total} == ({ethnicity} if ethnicities == 1 else set(ETHNICITIES))
    if gender == "balanced":
        assert all(sum(n for key, n in count.items() if key[0] == "female") * 2 == count.total() for count in counts)
    if gender == "mixed":
        assert len({sum(n for key, n in count.items() if key[0] == "female") for count in counts}) > 1
    assert all(len({p.metadata["name"] for p in item.prompts}) == len(item.prompts) for item in items)


@pytest.mark.parametrize(("options", "message"), [({"gender": "femal"}, "female"), ({"ethnicity": "blak"}, "black")])
def test_unknown_mode_is_refused(options: dict[str, str], message: str) -> None:
    with pytest.raises(FairnessError, match=message):
        list(applications(count=1, **options))  # type: ignore[arg-type]  # strings, but mypy thinks of counts


def test_count_below_1_and_unknown_language_are_refused() -> None:
    with pytest.raises(FairnessError, match="count is 0: there is 1 profile at least"):
        next(applications(count=0))
    with pytest.raises(FairnessError, match="language is 'sv'"):
        next(applications(language="sv"))


def own(folder: Path, lines: str) -> DataFolders:
    (folder / "names.csv").write_text(lines, encoding="utf-8")
    return DataFolders({"hiring": folder})


def test_user_names_replace_the_list(tmp_path: Path) -> None:
    lines = [
        "name,gender,ethnicity",
        *(f"{g}{e}{n},{g},{e}" for g in GENDERS for e in ("roma", "sinti") for n in "abc"),
    ]
    items = list(applications(own(tmp_path, "\n".join(lines)), count=4))
    assert {p.groups["ethnicity"] for item in items for p in item.prompts} == {"roma", "sinti"}
    assert all(p.metadata["name"] in p.text for item in items for p in item.prompts)
    with pytest.raises(FairnessError, match="has 2 ethnicities: a shortlist needs 5"):
        next(shortlists(DataFolders({"hiring": tmp_path})))
    with pytest.raises(FairnessError, match=r"names\.csv has 3 female roma names: a profile takes more"):
        next(applications(DataFolders({"hiring": tmp_path}), draws=4))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("name,sex\nAnn,female", "has no column ethnicity, gender"),
        ("name,gender,ethnicity\nAnn,f,white", r"names\.csv:2: .*gender is female or male"),
        ("name,gender,ethnicity\n,female,white", r"names\.csv:2: name ''"),
        ("name,gender,ethnicity,count\nAnn,female,white,many", r"names\.csv:2: count is 'many'"),
        ("name,gender,ethnicity\nAnn,female,white", "has no male white name"),
        ("name,gender,ethnicity\nAnn,female,white\nAnn,female,white", r"names\.csv:3: Ann stands in line 2 as well"),
    ],
)
def test_unusable_list_is_refused(tmp_path: Path, lines: str, message: str) -> None:
    with pytest.raises(FairnessError, match=message):
        NameList.read(own(tmp_path, lines).folder("hiring"))


def test_folder_without_names_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match=r"names\.csv: there is no such file"):
        NameList.read(tmp_path)
