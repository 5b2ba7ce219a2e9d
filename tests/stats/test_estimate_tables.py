"""Estimates as data frames, as tables for papers and notebooks, and as figures."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import matplotlib
import narwhals
import pandas
import polars
import pyarrow  # type: ignore[import-untyped]
import pytest

from pytest_fairness import Estimate, FairnessError, Measured, Verdict
from pytest_fairness.core.errors import MisuseError
from pytest_fairness.core.estimate_families import EstimateFamily
from tests.helpers.project import ALONE

CLASSES = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "pyarrow": pyarrow.Table}


def sample(gap: float = 0.2, groups: str = "abc", seed: int = 1, count: int = 90, lost: float = 0.0) -> Measured:
    chance = random.Random(seed)
    rows = [
        {
            "item": n,
            "group": group,
            "job": f"{('clerk', 'nurse')[n % 2]}",
            "hired": None if chance.random() < lost else chance.random() < 0.7 - gap * groups.index(group),
        }
        for n in range(count)
        for group in groups
    ]
    return Measured.from_rows(rows, item="item", groups=["group"])


@pytest.fixture
def figures() -> Iterator[None]:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")


@pytest.mark.parametrize("backend", CLASSES)
def test_frame_has_the_numbers_of_each_estimate(backend: str) -> None:
    family = sample().ratios("hired", by="group", to="a")
    frame = family.to_frame(backend)
    assert isinstance(frame, CLASSES[backend])
    columns = narwhals.from_native(frame).to_dict(as_series=False)
    assert list(columns["name"]) == ["b/a", "c/a"]
    for name, value, low, high, p, items in zip(
        *(columns[name] for name in ("name", "estimate", "low", "high", "p_value", "items")), strict=True
    ):
        one = family[name]
        assert (value, low, high, p, items) == (one.value, one.low, one.high, one.p_value(), one.items)


def test_frame_says_why_an_estimate_is_invalid_and_has_no_number_of_it() -> None:
    measured = Measured.from_rows(
        [{"item": n, "group": "ab"[n % 2], "hired": None if n % 2 else True} for n in range(40)],
        item="item",
        groups=["group"],
    )
    (row,) = measured.difference("hired", by="group", of="a", to="b").to_frame("pandas").to_dict("records")
    assert all(math.isnan(row[name]) for name in ("estimate", "low", "high", "p_value"))
    assert "ungraded" in row["invalid"]
    assert row["ungraded"] == 20
    shown = measured.difference("hired", by="group", of="a", to="b")
    assert "invalid" in shown.to_markdown()
    assert "nan" not in shown.to_markdown() + shown.to_latex()
    assert row["invalid"] in shown._repr_html_()


def test_attempts_are_a_frame_that_is_measured_again() -> None:
    measured = sample(lost=0.03)
    frame = measured.to_frame("pandas")
    again = Measured.from_table(frame, item="item", groups=["group_group"])
    first, second = (
        one.ratio("hired" if one is measured else "grade_hired", by=by, of="b", to="a")
        for one, by in ((measured, "group"), (again, "group_group"))
    )
    assert (first.value, first.low, first.high, first.ungraded) == (
        *(second.value, second.low, second.high, second.ungraded),
    )
    assert set(frame["ungraded_hired"].dropna()) == {"unparsed"}
    assert len(measured.where(group="a").to_frame("polars")) == 90


def test_grades_of_several_kinds_are_one_column_of_texts() -> None:
    rows = [{"item": n, "answer": [True, 2, "yes", None][n % 4]} for n in range(8)]
    frame = Measured.from_rows(rows, item="item", groups=[]).to_frame("pyarrow")
    assert frame["grade_answer"].to_pylist()[:4] == ["True", "2", "yes", None]


def test_unknown_and_missing_libraries_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rate = sample().rate("hired")
    with pytest.raises(FairnessError, match="the backend is 'pnadas': did you mean 'pandas'"):
        rate.to_frame("pnadas")
    monkeypatch.setattr("pytest_fairness.core.estimate_tables.find_spec", lambda name: None)
    with pytest.raises(FairnessError, match="a data frame needs its library: pip install pandas"):
        rate.to_frame()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(FairnessError, match=r"a figure needs matplotlib: pip install .*\[plot\]"):
        rate.plot()


@pytest.mark.parametrize("seed", range(12))
def test_p_value_is_at_most_5_percent_exactly_where_the_interval_excludes(seed: int) -> None:
    measured = sample(gap=0.09, groups="ab", seed=seed, lost=0.02 * (seed % 2))
    pair = {"by": "group", "of": "b", "to": "a"}
    for one in (
        measured.difference("hired", **pair),
        measured.ratio("hired", **pair),
        measured.odds_ratio("hired", **pair),
        abs(measured.difference("hired", **pair)),
        measured.ratios("hired", by="group")["b/a" if "b/a" in measured.ratios("hired", by="group") else "a/b"],
    ):
        assert one.parity is not None
        assert (one.p_value() <= 0.05) == (not one.low <= one.parity <= one.high), one
    rate = measured.rate("hired")
    assert rate.p_value(rate.low) == pytest.approx(0.05, rel=1e-4)
    assert rate.p_value(rate.high) == pytest.approx(0.05, rel=1e-4)
    assert rate.p_value(rate.value) == 1.0


def test_p_value_is_that_of_the_textbook() -> None:
    """Compare with Student's t of a mean over clusters without skewness."""
    rows = [{"item": n, "score": (n % 4 - 1.5) / 2} for n in range(80)]
    mean = Measured.from_rows(rows, item="item", groups=[]).mean("score")
    from scipy.stats import ttest_1samp  # type: ignore[import-untyped]

    expected = ttest_1samp([row["score"] for row in rows], 0.1).pvalue
    assert mean.p_value(0.1) == pytest.approx(expected, rel=1e-5)


def test_p_value_of_what_cannot_be_known_is_none_or_refused() -> None:
    fixed = Estimate("rate(x)", "rate of x", value=0.5, low=0.4, high=0.6)
    assert math.isnan(fixed.p_value(0.2)), "an interval at one confidence only"
    with pytest.raises(FairnessError, match=r"rate of x: it compares no groups: name the value, as in p_value\(0.5\)"):
        fixed.p_value()
    with pytest.raises(FairnessError, match="compared with a finite number"):
        fixed.p_value(math.nan)
    odds_ratio = sample(groups="ab").odds_ratio("hired", by="group", of="b", to="a")
    with pytest.raises(FairnessError, match="is never -1: name a value from 0 to inf"):
        odds_ratio.p_value(-1)


def test_flips_have_no_p_value_of_none() -> None:
    """Check that no table claims what holds of every model whose answers vary."""
    chance = random.Random(2)
    rows = [
        {"item": n, "sex": sex, "wording": wording, "ok": chance.random() < 0.7}
        for n in range(100)
        for sex in "fm"
        for wording in ("original", "1")
    ]
    flips = Measured.from_rows(rows, item="item", groups=["sex"], placebo="wording").flips("ok", by="sex")
    assert flips.low > 0
    assert "| p |" not in flips.to_markdown()
    with pytest.raises(FairnessError, match="a fair model has some: name the value"):
        flips.p_value()


def test_slices_are_those_of_where_and_correct_claims_of_unfairness() -> None:
    measured = sample(gap=0.12, groups="ab")
    family = measured.slices("job", lambda part: part.ratio("hired", by="group", of="b", to="a"))
    alone = measured.where(job="nurse").ratio("hired", by="group", of="b", to="a")
    nurse = family["nurse"]
    assert list(family) == ["clerk", "nurse"]
    assert (nurse.value, nurse.low, nurse.high, nurse.slice) == (alone.value, alone.low, alone.high, alone.slice)
    assert nurse.strict_ends == pytest.approx(alone.ends_at(0.0125) if alone.ends_at else ())
    bound = math.nextafter(alone.high, 2)
    assert (alone.decide(">=", bound), nurse.decide(">=", bound)) == (Verdict.UNFAIR, Verdict.UNDECIDED)
    assert list(family.to_frame("pandas")["slice_job"]) == ["clerk", "nurse"]


def test_slices_of_families_have_a_row_for_each_member() -> None:
    family = sample().slices("job", lambda part: part.ratios("hired", by="group", to="a"))
    assert list(family) == ["clerk, b/a", "clerk, c/a", "nurse, b/a", "nurse, c/a"]
    assert len(family.to_markdown().splitlines()) == 6


def test_slices_refuse_what_is_no_slice() -> None:
    measured = sample()
    with pytest.raises(FairnessError, match=r"the function of a slice returns 0\.5"):
        measured.slices("job", lambda part: 0.5)  # type: ignore[arg-type, return-value]
    with pytest.raises(FairnessError, match="no row has a column 'jobb': did you mean 'job'"):
        measured.slices("jobb", lambda part: part.rate("hired"))


HOSTILE = "<b>|x_1$ & 50%\n\x1b[31m"


def test_tables_escape_what_others_have_named() -> None:
    rows = [{"item": n, "group": (HOSTILE, "b")[n % 2], "hired": n % 3 > 0} for n in range(60)]
    measured = Measured.from_rows(rows, item="item", groups=["group"])
    family = measured.ratios("hired", by="group", to="b")
    assert "<b>" not in family._repr_html_() + measured._repr_html_()
    row = family.to_markdown().splitlines()[2]
    assert row.startswith("| &#60;b&#62;&#124;x_1&#36; &#38; 50% U+001B&#91;31m/b |")
    assert row.count("|") == 6
    assert "\x1b" not in family.to_markdown() + family.to_latex() + family._repr_html_()
    assert r"x\_1\$ \& 50\% U+001B[31m/b" in family.to_latex()


def test_latex_table_has_a_minus_and_small_p_values() -> None:
    latex = sample(gap=0.3, groups="ab").difference("hired", by="group", of="b", to="a").to_latex().splitlines()
    assert latex[2] == r" & difference (95\% CI) & p & items & attempts \\"
    assert "difference of hired, b minus a & $-$0." in latex[4]
    assert "($-$0." in latex[4]
    assert r"\textless{} 0.001" in latex[4]


def test_intervals_at_several_levels_are_named_in_their_cells() -> None:
    family = EstimateFamily(
        {
            "old": Estimate("r", "r", value=0.5, low=0.4, high=0.6),
            "new": Estimate("r", "r", value=0.5, low=0.3, high=0.7, confidence=0.99),
        }
    )
    assert "| old | 0.500 (95% CI 0.400 to 0.600) |" in family.to_markdown()
    assert "| new | 0.500 (99% CI 0.300 to 0.700) |" in family.to_markdown()


def test_figure_draws_what_the_table_says(figures: None) -> None:
    first, second = (sample(seed=seed).ratios("hired", by="group", to="a") for seed in (1, 2))
    axes = first.plot(label="old", bounds=[0.8])
    assert second.plot(axes, label="new") is axes
    drawn = [
        (label, container.lines[0].get_xydata().tolist())
        for label, container in zip(axes.get_legend_handles_labels()[1], axes.containers, strict=True)
    ]
    assert drawn == [
        ("old", [[first["b/a"].value, 0.0], [first["c/a"].value, 1.0]]),
        ("new", [[second["b/a"].value, 0.2], [second["c/a"].value, 1.2]]),
    ]
    ends = axes.containers[0].lines[2][0].get_segments()[0]
    assert ends[:, 0].tolist() == pytest.approx([first["b/a"].low, first["b/a"].high])
    assert axes.get_xlabel() == "ratio of hired (95% CI)"
    with pytest.raises(FairnessError, match="the axes show other estimates than b/c"):
        EstimateFamily({"b/c": first["b/a"]}).plot(axes)


def test_figure_shows_invalid_and_endless_intervals_as_such(figures: None) -> None:
    family = EstimateFamily(
        {
            "known": Estimate("r", "ratio of $x", value=0.5, low=0.4, high=0.6),
            "endless": Estimate("r", "ratio of $x", value=0.5, low=0.4, high=math.inf),
            "broken": Estimate("r", "ratio of $x", value=math.nan, low=math.nan, high=math.nan, invalid="no answers"),
        }
    )
    axes = family.plot()
    axes.figure.canvas.draw()
    assert [text.get_text() for text in axes.texts] == ["invalid"]
    assert [line.get_marker() for line in axes.lines if line.get_marker() in "<>"] == [">"]
    assert len(axes.containers[0].lines[0].get_xydata()) == 2


def test_figure_of_ratios_has_a_logarithmic_axis(figures: None) -> None:
    measured = sample(groups="ab")
    ratio, gap = (
        measured.odds_ratio("hired", by="group", of="b", to="a"),
        measured.difference("hired", by="group", of="b", to="a"),
    )
    empty = replace(ratio, value=0.0, low=0.0, high=0.2)
    axes = EstimateFamily({"some": ratio, "none": empty}).plot()
    axes.figure.canvas.draw()
    assert axes.get_xscale() == "log"
    assert {"0.2", "0.5", "1"} <= {text.get_text() for text in axes.get_xticklabels()}
    assert [line.get_marker() for line in axes.lines if line.get_marker() in "<>"] == ["<"]
    assert len(axes.containers[0].lines[0].get_xydata()) == 2
    assert EstimateFamily({"ratio": ratio, "difference": gap}).plot().get_xscale() == "linear"


def test_family_of_what_is_no_estimate_is_refused() -> None:
    ratios = sample().ratios("hired", by="group")
    for member, words in ((ratios, "the member 'x' is a family"), (0.5, "the member 'x' is 0.5: give an estimate")):
        with pytest.raises(MisuseError, match=words):
            EstimateFamily({"x": member})  # type: ignore[dict-item]


PROBE = """\
import pytest
from pytest_fairness import Measured, ProbeItem, Prompt, YesNo

def items():
    for n in range(40):
        yield ProbeItem(f"i{n}", [Prompt(f"{n} {sex}? yes or no", groups={"sex": sex}) for sex in "fm"])

@pytest.fixture(scope="session")
def model():
    return lambda text: "yes"

@pytest.mark.probe(items=items, grade={"ok": YesNo()})
def test_p(probe_item, model):
    probe_item.measure(model)
"""


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("measured.to_frame()", "a data frame is for notebooks and scripts"),
        ("measured.slices('sex', lambda part: part.rate('ok'))", "declare threshold(slices=('sex',))"),
        ("measured.rate('ok').to_frame()", "is a number without its interval"),
        ("measured.differences('ok', by='sex').to_latex()", "is a number without its interval"),
        ("measured.difference('ok', by='sex', of='f', to='m').p_value()", "is a number without its interval"),
        ("measured.rate('ok')._repr_html_()", "is a number without its interval"),
        ("measured.differences('ok', by='sex').plot()", "is a number without its interval"),
    ],
)
def test_threshold_reads_no_numbers_by_a_table(pytester: pytest.Pytester, line: str, reason: str) -> None:
    test = f"""
@pytest.mark.threshold(probe=test_p)
def test_t(measured):
    try:
        {line}
    except Exception:
        pass
    assert measured.rate("ok") >= 0.5
"""
    pytester.makepyfile(test_probe=PROBE + test)
    result = pytester.runpytest_inprocess(*ALONE, "-k", "test_t", "--fairness-report=none")
    output = " ".join(result.stdout.str().split())
    assert "Invalid" in output
    assert reason in output


def test_columns_of_two_grades_are_not_merged_in_a_frame() -> None:
    rows: list[dict[Any, Any]] = [{"item": n, 1: True, "1": False} for n in range(5)]
    measured = Measured.from_rows(rows, item="item", groups=[])
    with pytest.raises(
        FairnessError, match="two grades are called 1, a text and a number: give each a name of its own"
    ):
        measured.to_frame("pandas")
