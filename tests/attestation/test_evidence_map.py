"""The evidence map: the shipped clauses, rules, a project's own file, and files that are refused in one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.attestation.evidence_map import (
    RULE_FIELDS,
    SHIPPED,
    EvidenceMap,
    read_clauses,
    rule_matches,
)
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.threshold_results import ThresholdResult

ENTRY = """\
# ours
[[clause]]
framework = "House rules"
clause = "7"
subject = "Nobody is left out."
relation = "Counts."
source = "https://example.org/rules"
match = [{suite = ["pay*"], harm = ["allocation"]}, {attribute = ["age"]}]
"""
TEXTS = st.text(st.characters(exclude_characters="[]*?"), min_size=1, max_size=6)


def row(**changes: str) -> ThresholdResult:
    facts = {"id": "test_pay.py::test_alike[x:y]", "threshold": "Paid alike", "model": "x:y", "verdict": "fair"}
    return ThresholdResult.from_json(facts | changes)


HIRING = row(suite="hiring", probe="suites/hiring/test_hiring.py::test_application", harm="allocation",
             attribute="gender")  # fmt: skip


def clauses_of(*rows: ThresholdResult) -> set[str]:
    return {f"{result.framework}, {result.clause}" for result in EvidenceMap().results(rows)}


def test_every_framework_is_in_the_shipped_map() -> None:
    frameworks = {clause.framework for clause in read_clauses()}
    assert frameworks == {
        "EU AI Act",
        "NIST AI RMF 1.0",
        "NIST AI 600-1",
        "NYC Local Law 144",
        "California CRD",
        "Illinois Human Rights Act",
        "Colorado SB 26-189",
        "OMB M-26-04",
        "ISO/IEC 42001:2023",
    }


@pytest.mark.parametrize("entry", read_clauses(), ids=lambda entry: entry.clause)
def test_shipped_texts_claim_no_compliance(entry) -> None:  # type: ignore[no-untyped-def]
    text = f"{entry.relation} {entry.subject}".lower()
    assert not re.search(r"\b(compl(y|ies|iant|iance)|satisf\w+|certif\w+|guarantee\w*|proves?)\b", text)
    assert all(len(sentence.split()) < 20 for sentence in re.split(r"(?<=\.) ", f"{entry.relation} {entry.subject}"))
    assert re.search(r"\b(not?|other|stay)\b", entry.relation), "what a verdict does not show"
    assert entry.source.startswith("https://")
    assert entry.as_of


def test_hiring_thresholds_bear_on_laws_about_employment() -> None:
    assert clauses_of(HIRING) == {
        "EU AI Act, Annex III, point 4(a)", "EU AI Act, Article 9(6) to (8)", "EU AI Act, Article 10(2)(f)",
        "EU AI Act, Article 13(3)(b)(v)", "EU AI Act, Article 17(1)(d)", "EU AI Act, Annex IV, point 2(g)",
        "EU AI Act, Annex IV, point 3", "NIST AI RMF 1.0, MEASURE 2.11", "NIST AI 600-1, MS-2.11-002",
        "NYC Local Law 144, 6 RCNY 5-301", "NYC Local Law 144, 6 RCNY 5-302(b) and 5-303(a)",
        "California CRD, 2 CCR 11009(f)", "Illinois Human Rights Act, 775 ILCS 5/2-102(L)(1)",
        "Colorado SB 26-189, C.R.S. 6-1-1702(1)",
        "ISO/IEC 42001:2023, Control A.5.4", "ISO/IEC 42001:2023, Control A.6.2.4",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("threshold", "expected", "missing"),
    [
        (row(suite="hiring", probe="a.py::test_application", harm="allocation", attribute="age"), "Annex III", "NYC"),
        (row(suite="hiring", probe="a.py::test_promotion", harm="allocation"), "point 4(b)", "point 4(a)"),
        (row(suite="bbq", harm="stereotyping"), "Article 10", "Annex III"),
        (row(suite="gender", harm="disparate performance"), "Article 15", "Article 10"),
        (row(suite="dialect", harm="representation"), "MS-2.11-001", "MS-2.11-002"),
        (row(suite="politics", harm="quality of service"), "OMB M-26-04", "CCR"),
        (row(suite="ours", harm="our own harm"), "A.6.2.4", "MEASURE"),
    ],
)
def test_clauses_depend_on_suite_probe_and_attribute(threshold: ThresholdResult, expected: str, missing: str) -> None:
    names = " ".join(clauses_of(threshold))
    assert expected in names
    assert missing not in names


def test_threshold_without_a_harm_is_no_evidence() -> None:
    of_any_test = {"Article 9(6) to (8)", "Article 17(1)(d)", "Control A.6.2.4"}
    assert {name.partition(", ")[2] for name in clauses_of(row(suite="ours"))} <= of_any_test


@pytest.mark.parametrize("verdict", ["fair", "unfair", "undecided", "invalid", "not judged"])
def test_verdicts_are_listed_as_they_are(verdict: str) -> None:
    results = EvidenceMap().results([row(harm="allocation", verdict=verdict)])
    assert {threshold.verdict for result in results for threshold in result.thresholds} == {verdict}


@given(st.dictionaries(st.sampled_from(RULE_FIELDS), st.lists(TEXTS, min_size=1, max_size=3)), TEXTS)
def test_rule_matches_exactly_its_values(rule: dict[str, list[str]], value: str) -> None:
    same = row(suite=value, probe=value, id=value, threshold=value, harm=value, attribute=value)
    assert rule_matches(rule, same) == all(value in patterns for patterns in rule.values())
    assert rule_matches({name: ["*"] for name in rule}, same)


def test_file_of_the_project_extends_the_map(tmp_path: Path) -> None:
    path = tmp_path / "evidence.toml"
    path.write_text(ENTRY)
    clauses = read_clauses(path)
    assert len(clauses) == len(read_clauses()) + 1
    (result,) = [
        entry for entry in EvidenceMap(path).results([row(suite="pay", harm="allocation")]) if entry.clause == "7"
    ]
    assert (result.where, result.thresholds[0].title) == ("evidence.toml:2", "Paid alike")
    assert not clauses[-1].matches(row(suite="pay", harm="stereotyping"))
    assert clauses[-1].matches(row(suite="pay", harm="stereotyping", attribute="age"))


def test_entry_of_the_same_clause_takes_the_place_of_the_shipped(tmp_path: Path) -> None:
    path = tmp_path / "evidence.toml"
    own = ENTRY.replace("House rules", "NYC Local Law 144").replace('"7"', '"6 RCNY 5-301"')
    path.write_text(re.sub("match = .*", "match = []", own))
    assert len(read_clauses(path)) == len(read_clauses())
    assert not any(result.clause == "6 RCNY 5-301" for result in EvidenceMap(path).results([HIRING]))


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (('framework = "House rules"', "framework = 3"), "own.toml:3: framework is 3: write a text"),
        (('subject = "Nobody is left out."\n', ""), "own.toml:2: an entry needs `subject`: docs/evidence.md"),
        (('clause = "7"', 'clause = "7"\nclaus = "8"'), "own.toml:5: an entry has no field 'claus'; did you mean"),
        (("https://example.org/rules", "javascript:alert(1)"), "own.toml:7: source is 'javascript:alert(1)': write an"),
        (('{suite = ["pay*"], harm = ["allocation"]}', "{}"), "own.toml:8: match is [{}, "),
        (("{attribute", "{atribute"), "own.toml:8: match[1] has no field 'atribute'; did you mean 'attribute'?"),
        (('["age"]', '"age"'), "own.toml:8: match[1].attribute is 'age': write a list of texts"),
        (("[[clause]]", "[clause]"), "own.toml:2: 'clause' is no list of tables"),
        (("[[clause]]", "[[clauses]]"), "own.toml:2: the file has 'clauses'"),
        (('"Counts."', '"Counts.'), "own.toml:6: not valid TOML"),
        (('"Counts."', '"a\\u001bb"'), "own.toml:6: relation is 'a\\x1bb': write one line, without control"),
        (("match", 'as_of = "2026"\nmatch'), "own.toml:8: as_of is '2026': write a date without quotes"),
        (("# ours\n", ENTRY), "own.toml:9: 'House rules 7' is at own.toml:2 too: keep one entry"),
    ],
)  # fmt: skip
def test_malformed_files_are_refused_in_one_line(change: tuple[str, str], error: str, tmp_path: Path) -> None:
    text = ENTRY.replace(*change, 1)
    assert text != ENTRY
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FairnessError) as raised:
        read_clauses(path)
    assert error in str(raised.value)
    assert "\n" not in str(raised.value)


def test_missing_file_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match=r"pyproject.toml: evidence names .*: there is no such file"):
        read_clauses(tmp_path / "no.toml")


def test_shipped_file_is_written_like_the_documented_ones() -> None:
    assert len(read_clauses()) == SHIPPED.read_text().count("[[clause]]")


def release_days() -> list[str]:
    """Return the days of the releases that the changelog has, the latest first."""
    changelog = Path(__file__).parents[2] / "CHANGELOG.md"
    return re.findall(r"^## \S+ - (\d{4}-\d\d-\d\d)", changelog.read_text(encoding="utf-8"), re.MULTILINE)


def stale_clauses(day: str) -> list[str]:
    """Return the shipped clauses that were checked against their text over 180 days before a day."""
    results = EvidenceMap().results(
        [HIRING, *(row(suite=suite, harm="representation") for suite in ("bbq", "politics"))]
    )
    return [f"{result.clause}, as of {result.as_of}" for result in results if result.is_stale(day)]


@pytest.mark.parametrize("day", release_days()[:1])
def test_release_has_no_stale_clause(day: str) -> None:
    """Check the latest release's day, by the changelog: the tests of a day do not depend on that day."""
    assert stale_clauses(day) == []


def test_stale_clauses_are_listed_on_a_later_day() -> None:
    assert stale_clauses("2026-12-01") == []
    assert len(stale_clauses("2028-01-01")) == len({clause.clause for clause in read_clauses()} - {
        "Annex III, point 4(b)", "Article 15(1)", "Article 15(3)",
    })  # fmt: skip


def test_documentation_has_every_clause_of_the_map() -> None:
    page = (Path(__file__).parents[2] / "docs" / "evidence.md").read_text(encoding="utf-8")
    for clause in read_clauses():
        name = f"[{clause.framework}, {clause.clause}]({clause.source})"
        assert f"| {name} | {clause.subject} | {clause.relation} |" in page
