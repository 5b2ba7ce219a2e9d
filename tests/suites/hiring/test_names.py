"""The list of names, how a profile's names are drawn from it, and a list of one's own."""

from __future__ import annotations

import csv
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from pytest_fairness import DataFolders, FairnessError
from pytest_fairness.core.shipped_files import shipped_file
from pytest_fairness.counterfactual.name_lists import GENDERS, MAJORITIES, NameList
from suites.hiring.items import applications, applications_in_other_languages

SHIPPED = shipped_file("names", "en.csv")
ETHNICITIES = ("asian", "black", "hispanic", "middle eastern", "white")


def rows() -> list[dict[str, str]]:
    with SHIPPED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_group_has_at_least_30_names() -> None:
    groups = Counter((row["gender"], row["ethnicity"]) for row in rows())
    assert groups == {(gender, ethnicity): 32 for gender in GENDERS for ethnicity in ETHNICITIES}
    assert len({(row["name"], row["surname"]) for row in rows()}) == 320


def test_names_are_those_of_adults_and_signal_their_group() -> None:
    for row in rows():
        assert int(row["count"]) >= 25
        assert 1965 <= int(row["median_year"]) <= 1998
        if row["ethnicity"] == "middle eastern":
            assert not row["share"]
        else:
            of_all = {"white": 0.8233, "black": 0.042, "hispanic": 0.0688, "asian": 0.0627}[row["ethnicity"]]
            share = min(float(row["share"]), 0.9995)
            assert share / (1 - share) >= 8 * of_all / (1 - of_all) * 0.95, row["name"]


@pytest.mark.parametrize("gender", GENDERS)
def test_names_of_groups_are_about_as_frequent(gender: str) -> None:
    counts = {
        ethnicity: statistics.geometric_mean(int(row["count"]) for row in rows() if row_of(row) == (gender, ethnicity))
        for ethnicity in ETHNICITIES
    }
    born_here = [counts[ethnicity] for ethnicity in ("white", "black", "hispanic")]
    assert max(born_here) <= 2 * min(born_here)
    assert max(counts["asian"], counts["middle eastern"]) <= 4 * min(counts["asian"], counts["middle eastern"])


def row_of(row: dict[str, str]) -> tuple[str, str]:
    return row["gender"], row["ethnicity"]


def test_list_is_made_by_its_rules(tmp_path: Path) -> None:
    for name in ("make.py", "middle_eastern.csv"):
        (tmp_path / name).write_bytes((SHIPPED.parent / name).read_bytes())
    tables, births = made_up_tables(tmp_path)
    subprocess.run([sys.executable, tmp_path / "make.py", tables, births], check=True)
    with (tmp_path / "en.csv").open(encoding="utf-8", newline="") as file:
        made = [row for row in csv.DictReader(file) if row["ethnicity"] != "middle eastern"]
    assert Counter(map(row_of, made)) == {
        (gender, ethnicity): 32 for gender in GENDERS for ethnicity in ETHNICITIES if ethnicity != "middle eastern"
    }
    names = {row["name"] for row in made}
    assert not names & {"Prince", "Childonly", "Elderly", "Unisex", "Everybody", "Rare"}
    counts = {
        group: sorted(int(r["count"]) for r in made if row_of(r) == ("male", group)) for group in ("white", "black")
    }
    assert counts["white"] == counts["black"]


def made_up_tables(folder: Path) -> tuple[Path, Path]:
    """Write tables in the published form: 40 names of each group and gender, and six that break a rule each."""
    columns = ("pcthispanic", "pctwhite", "pctblack", "pctapi")
    lines = ["firstname,obs,pcthispanic,pctwhite,pctblack,pctapi,pctaian,pct2prace"]
    births: dict[int, list[str]] = {year: [] for year in range(1950, 2006)}

    def add(name: str, column: str, share: float, births_by_gender: dict[str, int], years: tuple[int, ...]) -> None:
        rest = (100 - share) / 3
        shares = ",".join(str(share if own == column else rest) for own in columns)
        lines.append(f"{name.upper()},100,{shares},0,0")
        for year in years:
            births[year] += [f"{name},{gender},{count}" for gender, count in births_by_gender.items()]

    for column in columns:
        for gender in "FM":
            for number in range(40):
                name = f"{column[3:]}{gender}{chr(97 + number // 26)}{chr(97 + number % 26)}".title()
                add(name, column, 99.9, {gender: 1000 + 100 * number}, (1980,))
    add("Prince", "pctblack", 99.95, {"M": 2000}, (1980,))  # a title
    add("Childonly", "pctblack", 99.95, {"M": 2000}, (1990, 2004, 2005))
    add("Elderly", "pctblack", 99.95, {"M": 2000}, (1951, 1952, 1970))
    add("Unisex", "pctblack", 99.95, {"M": 1000, "F": 1000}, (1980,))
    add("Everybody", "pctblack", 26.0, {"M": 2000}, (1980,))
    add("Rare", "pctblack", 99.95, {"M": 20}, (1980,))
    for year, names in births.items():
        (folder / f"yob{year}.txt").write_text("\n".join(names), encoding="utf-8")
    for row in csv.DictReader((folder / "middle_eastern.csv").read_text("utf-8").splitlines()):
        with (folder / "yob1985.txt").open("a", encoding="utf-8") as file:
            file.write(f"\n{row['name']},{row['gender'][0].upper()},500")
    tables = folder / "firstnames.csv"
    tables.write_text("\n".join(lines), encoding="utf-8")
    return tables, folder


MINORITIES: dict[str, set[str]] = {
    "de": {"arabic", "polish", "turkish"},
    "es": {"latin american", "moroccan"},
    "fr": {"maghrebi", "sub-saharan"},
    "nl": {"moroccan", "surinamese", "turkish"},
    "pt": {"bolivian", "japanese"},
    "tr": {"kurdish", "syrian"},
}


@pytest.mark.parametrize("language", MINORITIES)
def test_other_countries_have_names_of_their_own_groups(language: str) -> None:
    names = NameList.read(language=language)
    (majority,) = set(names.ethnicities) - MINORITIES[language]
    assert majority == MAJORITIES[language]
    lists = {group: names.of(group) for group in names.groups}
    assert {len(members) for members in lists.values()} == {12}
    texts = [name.text for members in lists.values() for name in members]
    assert len(set(texts)) == len(texts)
    # A woman and a man of a group share each surname, so that no gap of genders is one of surnames.
    surnames = {group: sorted(name.text.split(" ", 1)[1] for name in members) for group, members in lists.items()}
    assert all(surnames["female", group] == surnames["male", group] for group in names.ethnicities)


def test_names_have_the_letters_of_their_language() -> None:
    texts = {name for language in ("de", "nl", "tr") for name in names_of(language)}
    assert {"Derya Çelik", "Burak Şahin", "Gülay Doğan", "Özgür Doğan"} <= texts
    assert {"Ay\u015fe Y\u0131lmaz", "G\u00fcl\u015fen Ayd\u0131n"} <= texts
    assert {"Małgorzata Kaczmarek", "Łukasz Zając"} <= set(names_of("de"))


def names_of(language: str) -> list[str]:
    listed = NameList.read(language=language)
    return [name.text for group in listed.groups for name in listed.of(group)]


def test_applications_in_other_languages_name_people_of_their_country() -> None:
    for item in applications_in_other_languages(count=10):
        language = str(item.prompts[0].metadata["language"])
        origins = Counter((p.groups["origin"], p.groups["ethnicity"]) for p in item.prompts)
        minorities = {("minority", group): 4 for group in MINORITIES[language]}
        assert origins == {("majority", MAJORITIES[language]): 4, **minorities}


def test_own_list_of_another_language_has_its_majority(tmp_path: Path) -> None:
    lines = [
        "name,gender,ethnicity",
        *(f"{g}{e}{n},{g},{e}" for g in GENDERS for e in ("german", "roma") for n in "ab"),
    ]
    data = own(tmp_path, "\n".join(["name,gender,ethnicity", "Ann,female,x", "Bob,male,x"]))
    file = tmp_path / "names.de.csv"
    file.write_text("\n".join(lines), encoding="utf-8")
    item = next(applications_in_other_languages(data, count=1))
    assert {p.groups["ethnicity"] for p in item.prompts} == {"german", "roma"}
    other = tmp_path / "other"
    other.mkdir()
    (other / "names.de.csv").write_text("\n".join(lines).replace("german", "sinti"), encoding="utf-8")
    with pytest.raises(FairnessError, match=r"names\.de\.csv has the ethnicities roma, sinti: it needs 'german'"):
        next(applications_in_other_languages(DataFolders({"hiring": other}), count=1))


def test_names_are_drawn_for_every_profile() -> None:
    items = list(applications())
    drawn = [tuple(prompt.metadata["name"] for prompt in item.prompts) for item in items]
    assert len(set(drawn)) >= 90
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


def test_names_of_a_list_are_equally_long_and_differ() -> None:
    names = NameList.read()
    lengths, used = Counter[int](), Counter[tuple[str, str]]()
    groups = [(gender, ethnicity) for gender in GENDERS for ethnicity in ("white", "hispanic")]
    for number in range(400):
        people = names.of_one_length(str(number), [*groups, *groups])
        assert [(name.gender, name.ethnicity) for name in people] == [*groups, *groups]
        assert len({name.text for name in people}) == len({name.surname for name in people}) == 8
        (length,) = {len(name.text) for name in people}
        lengths[length] += 1
        used.update((name.ethnicity, name.text) for name in people)
    assert len(lengths) >= 4
    assert min(Counter(ethnicity for ethnicity, _ in used).values()) >= 30


def test_names_of_a_list_are_as_alike_in_length_as_it_allows(tmp_path: Path) -> None:
    texts = {"a": ("Bo", "Annabelle", "Lu"), "b": ("Maximilian", "Al"), "c": ("Ada",)}
    lines = [f"{text},{gender},{group}" for gender in GENDERS for group, both in texts.items() for text in both]
    names = NameList.read(own(tmp_path, "\n".join(["name,gender,ethnicity", *lines])).folder("hiring"))
    groups = [("male", group) for group in ("a", "b", "c", "a")]
    drawn = {tuple(name.text for name in names.of_one_length(str(key), groups)) for key in range(20)}
    assert drawn == {("Bo", "Al", "Ada", "Lu"), ("Lu", "Al", "Ada", "Bo")}
    with pytest.raises(FairnessError, match="has 1 male c name: a list takes 2"):
        names.of_one_length("a", [("male", "c"), ("male", "c")])


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
