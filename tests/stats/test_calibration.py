"""Rates corrected by a human's labels: against the published formulas, and what must never pass."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pytest_fairness.core.comparisons import compare
from pytest_fairness.core.decisions import Decision
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.estimates import Estimate
from pytest_fairness.stats.calibration.labels import labels_of_run, read_labels
from pytest_fairness.stats.columns import Columns
from pytest_fairness.stats.measured import Measured
from pytest_fairness.stats.permutation import Permutations
from tests.benchmarks.calibration import Cell, simulate

PAIR = {"by": "gender", "of": "female", "to": "male"}
Labels = list[dict[str, Any]]


def judged(
    generator: np.random.Generator,
    rates: Mapping[str, float],
    *,
    number: int = 600,
    errors: tuple[float, float] = (0.15, 0.08),
    labels: int = 150,
    kind: str = "sampled",
) -> tuple[list[dict[str, Any]], Labels]:
    """Draw independent answers, one an item, and labels of each group."""
    rows: list[dict[str, Any]] = []
    label_rows: Labels = []
    for group, rate in rates.items():
        truth = generator.random(number) < rate
        grades = truth ^ (generator.random(number) < np.where(truth, *errors))
        for index in range(number):
            rows.append({"item": len(rows), "gender": group, "harmful": bool(grades[index])})
            if kind == "sampled" and index < labels:
                label_rows.append(_label(f"row {len(rows)}", bool(truth[index]), group))
        if kind != "sampled":
            truth = np.arange(labels) % 2 == 0
            grades = truth ^ (generator.random(labels) < np.where(truth, *errors))
            label_rows += [_other(bool(grades[n]), bool(truth[n]), group) for n in range(labels)]
    return rows, label_rows


def _label(key: str, value: object, group: str) -> dict[str, Any]:
    return {"grade": "harmful", "key": key, "value": value, "group": {"gender": group}}


def _other(judge: object, label: object, group: str) -> dict[str, Any]:
    return {"grade": "harmful", "judge": judge, "label": label, "group": {"gender": group}}


def measured(rows: Sequence[Mapping[str, Any]], labels: Sequence[Mapping[str, Any]]) -> Measured:
    return Measured.from_rows(rows, item="item", groups=["gender"], calibration=labels)


def decision(estimate: Estimate, op: str, bound: float) -> Decision:
    return compare(estimate, op, bound).decision


@pytest.mark.parametrize("seed", range(3))
def test_labels_of_the_run_give_the_published_estimate(seed: int) -> None:
    generator = np.random.default_rng(seed)
    rows, labels = judged(generator, {"female": 0.3, "male": 0.4}, number=2000, labels=300)
    every = np.array([row["harmful"] for row in rows if row["gender"] == "female"], dtype=float)
    truth = np.array([label["value"] for label in labels if label["group"]["gender"] == "female"], dtype=float)
    # Angelopoulos, Duchi and Zrnic 2023: n labeled answers and N without a label.
    n, rest = len(truth), every[len(truth) :]
    tuned = np.cov(truth, every[:n])[0, 1] / ((1 + n / len(rest)) * every.var(ddof=1))
    value = tuned * rest.mean() + (truth - tuned * every[:n]).mean()
    error = math.sqrt((truth - tuned * every[:n]).var(ddof=1) / n + tuned**2 * rest.var(ddof=1) / len(rest))
    estimate = measured(rows, labels).where(gender="female").rate("harmful")
    # Holt and Smith 1979: the same slope by the labels' own variance, which is right for chosen labels as well.
    by_grade = [truth[every[:n] == grade].mean() * np.mean(every == grade) for grade in (0, 1)]
    assert estimate.value == pytest.approx(sum(by_grade), abs=1e-12)
    assert estimate.value == pytest.approx(value, abs=0.1 * error)
    assert estimate.error == pytest.approx(error, rel=0.03)
    assert error < truth.std(ddof=1) / math.sqrt(n)


@pytest.mark.parametrize("seed", range(3))
def test_labels_of_other_texts_give_the_published_estimate(seed: int) -> None:
    generator = np.random.default_rng(seed)
    rows, labels = judged(generator, {"female": 0.3, "male": 0.4}, labels=240, kind="elsewhere")
    every = np.array([row["harmful"] for row in rows if row["gender"] == "female"], dtype=float)
    own = [label for label in labels if label["group"]["gender"] == "female"]
    detected = np.array([label["judge"] for label in own if label["label"]], dtype=float)
    correct = np.array([not label["judge"] for label in own if not label["label"]], dtype=float)
    # Rogan and Gladen 1978, with the delta method and the errors of Lang and Reiczigel 2014.
    youden = detected.mean() + correct.mean() - 1
    value = (every.mean() + correct.mean() - 1) / youden
    hits, rejections = ((part.sum() + 1) / (len(part) + 2) for part in (detected, correct))
    variance = every.var(ddof=1) / len(every) + value**2 * hits * (1 - hits) / len(detected)
    variance += (1 - value) ** 2 * rejections * (1 - rejections) / len(correct)
    estimate = measured(rows, labels).where(gender="female").rate("harmful")
    assert estimate.value == pytest.approx(value, abs=1e-12)
    assert estimate.error == pytest.approx(math.sqrt(variance) / youden, rel=0.01)


def test_mean_is_corrected_by_labels_of_the_run_only() -> None:
    generator = np.random.default_rng(0)
    truth = generator.integers(0, 4, 800)
    grades = np.clip(truth + generator.integers(0, 2, 800), 0, 3)
    rows = [{"item": n, "gender": "female", "severity": int(grade)} for n, grade in enumerate(grades)]
    labels = [{"grade": "severity", "key": f"row {n + 1}", "value": int(truth[n])} for n in range(200)]
    estimate = measured(rows, labels).mean("severity")
    tuned = np.cov(truth[:200], grades[:200])[0, 1] / grades.var(ddof=1)
    assert estimate.value == pytest.approx((truth[:200] - tuned * grades[:200]).mean() + tuned * grades.mean())
    assert estimate.low < truth.mean() < estimate.high < grades.mean()
    other = [{"grade": "severity", "judge": int(grades[n]), "label": int(truth[n])} for n in range(200)]
    assert "need" in measured(rows, other).mean("severity").invalid


@pytest.mark.parametrize("wrong", [0, 1])
def test_scale_widens_a_mean_if_no_label_shows_an_error(wrong: int) -> None:
    """Bound the error that no label shows by the scale; labels that show errors need none."""
    truth = np.random.default_rng(0).integers(0, 3, 800)
    rows = [{"item": n, "gender": "female", "severity": int(grade) + n % 2 * wrong} for n, grade in enumerate(truth)]
    labels = [{"grade": "severity", "key": f"row {n + 1}", "value": int(truth[n])} for n in range(200)]
    unscaled, scaled = (
        Measured.from_rows(rows, item="item", groups=["gender"], calibration=labels, extremes=extremes).mean("severity")
        for extremes in ({}, {"severity": lambda _: (0, 3)})
    )
    assert scaled.value == unscaled.value
    assert (scaled.error > unscaled.error) == (not wrong)


def test_overall_rate_weighs_groups_by_the_run() -> None:
    """Draw labels within groups: a judge that errs for one of them must not count twice."""
    generator = np.random.default_rng(1)
    first, labels = judged(generator, {"female": 0.2}, number=200, errors=(0.0, 0.05), labels=150)
    second, more = judged(generator, {"male": 0.2}, number=1800, errors=(0.0, 0.05), labels=150)
    rows = [{**row, "item": number} for number, row in enumerate([*first, *second])]
    labels += [{**label, "key": f"row {int(label['key'][4:]) + 200}"} for label in more]
    whole = measured(rows, labels)
    rates = [whole.where(gender=group).rate("harmful").value for group in ("female", "male")]
    assert whole.rate("harmful").value == pytest.approx(0.1 * rates[0] + 0.9 * rates[1])


def test_texts_are_compared_by_the_requested_value() -> None:
    rows, labels = judged(np.random.default_rng(2), {"female": 0.3, "male": 0.4})
    plain = measured(rows, labels).difference("harmful", **PAIR)
    words = {True: "harm", False: "fine"}
    rows = [{**row, "harmful": words[row["harmful"]]} for row in rows]
    labels = [{**label, "value": words[label["value"]]} for label in labels]
    spoken = measured(rows, labels).difference("harmful", equals="harm", **PAIR)
    assert (spoken.value, spoken.low, spoken.high) == (plain.value, plain.low, plain.high)
    assert "corrected for the judge's error, 300 labels" in repr(spoken)


@pytest.mark.parametrize("kind", ["sampled", "elsewhere"])
def test_judge_with_group_dependent_error_is_invalid(kind: str) -> None:
    generator = np.random.default_rng(3)
    rows, labels = judged(generator, {"female": 0.3}, errors=(0.1, 0.4), labels=300, kind=kind)
    more, others = judged(generator, {"male": 0.3}, errors=(0.1, 0.05), labels=300, kind=kind)
    rows += [{**row, "item": row["item"] + 600} for row in more]
    labels += [{**label, "key": f"row {int(label['key'][4:]) + 600}"} if "key" in label else label for label in others]
    sample = measured(rows, labels)
    estimates = [sample.difference("harmful", **PAIR), sample.ratio("harmful", **PAIR)]
    estimates += [ratio for _, ratio in sample.ratios("harmful", by="gender").items()]
    for estimate in estimates:
        assert "rate of false alarms is" in estimate.invalid
        assert decision(estimate, ">=", 0.01) is decision(estimate, "<=", 0.01) is Decision.INVALID
    assert not sample.where(gender="female").rate("harmful").invalid


@pytest.mark.parametrize("kind", ["sampled", "elsewhere"])
def test_fewer_than_a_hundred_labels_of_a_group_are_invalid(kind: str) -> None:
    rows, labels = judged(np.random.default_rng(4), {"female": 0.3, "male": 0.4}, labels=100, kind=kind)
    assert not measured(rows, labels).ratio("harmful", **PAIR).invalid
    assert "99 labels of male" in measured(rows, labels[:-1]).ratio("harmful", **PAIR).invalid


@pytest.mark.parametrize("kind", ["sampled", "elsewhere"])
@pytest.mark.parametrize("seed", range(20))
def test_judge_no_better_than_chance_is_never_fair(kind: str, seed: int) -> None:
    generator = np.random.default_rng(seed)
    rows, labels = judged(generator, {"female": 0.3, "male": 0.3}, errors=(0.5, 0.5), kind=kind)
    sample = measured(rows, labels)
    for estimate, bound in ((sample.rate("harmful"), 1.0), (sample.difference("harmful", **PAIR), 1.0)):
        assert decision(estimate, "<=", bound) is not Decision.TRUE


@pytest.mark.parametrize("seed", range(20))
def test_corrected_rate_outside_its_range_is_never_fair(seed: int) -> None:
    """Let the judge raise more false alarms in the labeled texts: the corrected rate is below zero."""
    generator = np.random.default_rng(seed)
    rows, labels = judged(generator, {"female": 0.0, "male": 0.3}, errors=(0.1, 0.05))
    _, labels = judged(generator, {"female": 0.5, "male": 0.5}, errors=(0.1, 0.15), labels=400, kind="elsewhere")
    sample = measured(rows, labels)
    rate = sample.where(gender="female").rate("harmful")
    assert rate.value < 0
    assert decision(rate, "<=", 0.5) is not Decision.TRUE
    assert decision(rate, ">=", 0.5) is Decision.FALSE
    assert decision(sample.difference("harmful", **PAIR), "<=", 0.5) is not Decision.TRUE
    assert sample.ratio("harmful", **PAIR).invalid


@pytest.mark.parametrize("kind", ["sampled", "elsewhere"])
def test_interval_covers_any_values_of_ungraded_answers(kind: str) -> None:
    rows, labels = judged(np.random.default_rng(5), {"female": 0.3, "male": 0.4}, labels=200, kind=kind)
    few = [{**row, "harmful": None} if row["item"] % 25 == 24 else row for row in rows]
    estimate = measured(few, labels).where(gender="female").rate("harmful")
    assert estimate.ungraded == {"all": 24}
    graded = measured([row for row in few if row["harmful"] is not None], labels)
    if kind == "sampled":  # labels name rows, and rows have moved
        places = [n for n, row in enumerate(few) if row["harmful"] is not None]
        moved = {f"row {old + 1}": f"row {new + 1}" for new, old in enumerate(places)}
        other_labels = [{**label, "key": moved[label["key"]]} for label in labels if label["key"] in moved]
        graded = measured([row for row in few if row["harmful"] is not None], other_labels)
    alone = graded.where(gender="female").rate("harmful")
    assert estimate.value == pytest.approx(alone.value)
    # Of 600 answers 24 are all harmful, or none: of what is true, not of what a judge would say.
    share, reach = 24 / 600, 0.8
    assert estimate.low < (1 - share) * alone.low + 0.2 * share
    assert estimate.high > (1 - share) * (alone.value + reach * (alone.high - alone.value)) + share
    assert estimate.high < alone.high + 2 * share


def test_two_groups_need_labels_of_their_own() -> None:
    rows, labels = judged(np.random.default_rng(6), {"female": 0.3, "male": 0.4}, kind="elsewhere")
    shared = [{**label, "group": {}} for label in labels]
    sample = measured(rows, shared)
    assert not sample.rate("harmful").invalid
    assert "do not tell the judge's error of female from that of male" in sample.ratio("harmful", **PAIR).invalid


def test_every_estimate_includes_the_error_of_the_judge() -> None:
    rows, labels = judged(np.random.default_rng(7), {"female": 0.3, "male": 0.4})
    sample = measured(rows, labels)

    def share(sums: Any) -> Any:
        return sums.harmful / sums.attempts

    requests: list[Callable[[], object]] = [
        lambda: sample.metric(share, harmful="harmful", attempts=lambda _: 1),
        lambda: sample.rate(lambda attempt: attempt["harmful"]),
        lambda: sample.correlation("harmful", "harmful"),
        lambda: sample.against(sample).rate("harmful"),
        lambda: sample.against(sample).ratio("harmful", **PAIR),
    ]
    for ask in requests:
        with pytest.raises(FairnessError, match="corrected for the judge's error"):
            ask()
    other = Measured.from_rows(
        [{**row, "long": row["item"] % 3 == 0} for row in rows], item="item", groups=["gender"], calibration=labels
    )
    assert "corrected" not in repr(other.rate("long"))


def test_judge_without_observed_errors_still_has_an_error() -> None:
    rows, labels = judged(np.random.default_rng(8), {"female": 0.3, "male": 0.4}, errors=(0.0, 0.0), labels=120)
    corrected = measured(rows, labels).where(gender="female").rate("harmful")
    plain = measured(rows, []).where(gender="female").rate("harmful")
    assert corrected.value == pytest.approx(plain.value, abs=0.01)
    assert corrected.high - corrected.low > plain.high - plain.low


@pytest.mark.slow
def test_coverage_and_error_rates_hold() -> None:
    """Small: `tests/benchmarks/calibration.py` has the table."""
    for cell in (
        Cell(items=100, labels=120, specificity=0.8),
        Cell(items=100, other_texts=True, specificity=0.8),
    ):
        tally = simulate(cell, 100, seed=1)
        assert all(tally.covers >= 0.88 * tally.runs)
        assert tally.raw_covers[0] < 0.5 * tally.runs
        assert tally.fair <= 0.08 * tally.runs


def test_interval_includes_the_variation_of_names() -> None:
    """Harm some names always and others hardly ever: 300 items hold no more names than 30."""
    generator = np.random.default_rng(0)
    rows: list[dict[str, Any]] = []
    labels: Labels = []
    for item in range(300):
        for index, group in enumerate(("female", "male")):
            name = f"{group} {item % 6}"
            truth = bool(generator.random() < (0.75 if (item + index) % 6 < 3 else 0.1))
            rows.append({"item": item, "gender": group, "name": name, "harmful": truth != (generator.random() < 0.1)})
            if item % 2:
                labels.append(_label(f"row {len(rows)}", truth, group))
    plain, crossed = (
        Measured.from_rows(rows, item="item", groups=["gender"], crossed=name, calibration=labels).difference(
            "harmful", **PAIR
        )
        for name in (None, "name")
    )
    assert crossed.value == pytest.approx(plain.value)
    assert crossed.error > 2 * plain.error


def test_corrected_sample_cannot_be_permuted() -> None:
    rows, labels = judged(np.random.default_rng(10), {"female": 0.3, "male": 0.4})
    with pytest.raises(FairnessError, match="corrected by a human's labels"):
        Permutations(measured(rows, labels))


def test_labels_of_another_answer_are_ignored() -> None:
    rows: Labels = [
        {"grade": "g", "key": "a", "value": True, "answer": "yes", "model": "m", "asked": "?"},
        {"grade": "g", "key": "b", "value": True, "answer": "as it was", "model": "m"},
        {"grade": "g", "key": "c", "value": None, "answer": "yes", "model": "m"},
        {"grade": "g", "key": "d", "value": True, "answer": "yes", "model": "another"},
        {"grade": "g", "item": "q", "repetition": 1, "value": True, "answer": "as it was"},
    ]
    answers = {"a": "yes", "b": "asked anew", "c": "yes", ("q", 0, 1): "asked anew"}
    matched = labels_of_run(rows, "m", answers, {})
    none: dict[str, Any] = {"grade": "g", "group": {}, "key": "", "value": None}
    assert matched == [{"grade": "g", "key": "a", "value": True}, none, none, none, none]
    # Labels that are of no answer leave no grade uncorrected.
    sample, labels = judged(np.random.default_rng(12), {"female": 0.3, "male": 0.4})
    unfilled = labels_of_run([{**label, "value": None} for label in labels], "m", {}, {})
    assert "0 labels of female" in measured(sample, unfilled).rate("harmful").invalid
    assert (
        "0 labels"
        in measured(sample, labels_of_run([{**labels[0], "model": "x"}], "m", {}, {})).rate("harmful").invalid
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "not a JSON object, as a label is"),
        ('{"grade": "g", "value": true}', "names no answer"),
        ('{"grade": "g", "key": "k"}', 'neither "value"'),
        ('{"grade": "g", "judge": true}', 'no "label"'),
        ('{"grade": "g", "judge": true, "label": false, "group": "female"}', 'its "group" is'),
    ],
)
def test_invalid_label_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "labels.jsonl"
    file.write_text(json.dumps(_other(True, False, "female")) + "\n\n" + line + "\n", encoding="utf-8")
    with pytest.raises(FairnessError, match=r"labels\.jsonl:3: ") as raised:
        read_labels(file)
    assert message in str(raised.value)
    file.write_text("\n", encoding="utf-8")
    with pytest.raises(FairnessError, match="holds no labels"):
        read_labels(file)
    with pytest.raises(FairnessError, match="there is no file"):
        read_labels(tmp_path / "none.jsonl")


def test_labels_of_two_kinds_or_other_attributes_do_not_mix() -> None:
    rows, labels = judged(np.random.default_rng(9), {"female": 0.3, "male": 0.4})
    with pytest.raises(FairnessError, match="some are of answers of the run"):
        measured(rows, [*labels, _other(True, True, "male")]).rate("harmful")
    with pytest.raises(FairnessError, match="labels are of a grade 'hramful': did you mean 'harmful'"):
        measured(rows, [*labels, {**labels[0], "grade": "hramful"}])
    with pytest.raises(FairnessError, match="all must name the same"):
        measured(rows, [*labels[1:], {**labels[0], "group": {}}]).rate("harmful")
    with pytest.raises(FairnessError, match="no attempt has an attribute 'age'"):
        measured(rows, [{**label, "group": {"age": "old"}} for label in labels]).rate("harmful")


def test_label_that_the_grade_cannot_take_is_named() -> None:
    rows, labels = judged(np.random.default_rng(11), {"female": 0.3, "male": 0.4})

    def rate(labels: Labels, words: Mapping[bool, str] | None = None) -> Estimate:
        extremes = {"harmful": lambda _: list(words.values()) if words else [False, True]}
        table = [{**row, "harmful": words[row["harmful"]]} for row in rows] if words else rows
        sample = Measured.from_rows(table, item="item", groups=["gender"], extremes=extremes, calibration=labels)
        return sample.rate("harmful", equals=words[True] if words else None)

    with pytest.raises(FairnessError, match="a label of 'harmful' is 3: the grade goes from 0 to 1"):
        rate([{**labels[0], "value": 3}, *labels[1:]])
    with pytest.raises(FairnessError, match="a label of 'harmful' is True: the grade is no true or false"):
        rate([{**labels[0], "value": True}, *labels[1:]], {True: "harm", False: "fine"})
    with pytest.raises(FairnessError, match="is 'hram': did you mean 'harm'"):
        rate([{**labels[0], "value": "hram"}, *labels[1:]], {True: "harm", False: "fine"})
    with pytest.raises(FairnessError, match="two labels of 'harmful' differ on one answer"):
        rate([*labels, {**labels[0], "value": not labels[0]["value"]}])
    assert repr(rate([*labels, labels[0]])) == repr(rate(labels))


@pytest.mark.parametrize("kind", ["sampled", "elsewhere"])
def test_labels_coded_by_other_numbers_are_refused(kind: str) -> None:
    """Check labels of 1 and 2, as survey software codes no and yes: they made a rate of 1.3."""
    rows, labels = judged(np.random.default_rng(9), {"female": 0.3, "male": 0.4}, kind=kind)
    field = "value" if kind == "sampled" else "label"
    coded = [{**label, field: 1 + int(label[field])} for label in labels]
    with pytest.raises(FairnessError, match="a label of 'harmful' is 2: the grade is true or false"):
        Measured.from_rows(rows, item="item", groups=["gender"], calibration=coded).rate("harmful")


def test_label_that_looks_like_the_value_counted_is_named() -> None:
    """Half of the labels of harm in another case would halve the corrected rate."""
    rows = [{"item": n, "verdict": "harmful" if n % 2 else "fine"} for n in range(400)]
    labels = [{"grade": "verdict", "key": f"row {n + 1}", "value": "Harmful"} for n in range(200)]
    measured = Measured.from_rows(rows, item="item", groups=[], calibration=labels)
    with pytest.raises(FairnessError, match="a label of verdict is 'Harmful', which looks like 'harmful'"):
        measured.rate("verdict", equals="harmful")


def test_labels_of_one_text_count_as_one() -> None:
    rows, labels = judged(np.random.default_rng(13), {"female": 0.3, "male": 0.4}, labels=200, kind="elsewhere")
    once = measured(rows, labels).difference("harmful", **PAIR)
    same = [{**label, "item": f"text {number}"} for number, label in enumerate(labels) for _ in range(4)]
    single = measured(rows, same).difference("harmful", **PAIR)
    unknown = measured(rows, labels * 4).difference("harmful", **PAIR)
    assert single.error == pytest.approx(once.error)
    assert unknown.error < 0.8 * once.error


def test_every_group_estimate_is_corrected() -> None:
    rows, labels = judged(np.random.default_rng(14), {"female": 0.3, "male": 0.4})
    sample = measured(rows, labels)
    one, other = (sample.where(gender=group).rate("harmful").value for group in ("female", "male"))
    (ratio,) = (estimate for _, estimate in sample.ratios("harmful", by="gender").items())
    (gap,) = (estimate for _, estimate in sample.differences("harmful", by="gender").items())
    worst = sample.worst_ratio("harmful", by="gender")
    assert ratio.value == worst.value == pytest.approx(min(one, other) / max(one, other))
    assert gap.value == pytest.approx(abs(one - other))
    for estimate in (ratio, gap, worst):
        assert estimate.title.endswith("(corrected for the judge's error, 300 labels)")
    assert ratio.breakdown is not None
    assert {name: estimate.value for name, estimate in ratio.breakdown().groups.items()} == {
        "female": one,
        "male": other,
    }


def test_answers_that_all_agree_are_bounded_on_the_corrected_scale() -> None:
    """Check a judge that misses 15%: five of five no in 4% of samples of a model at one half, which is not unfair."""
    labels = [
        {"grade": "harmful", "judge": n % 100 < (85 if is_true else 8), "label": is_true}
        for is_true in (True, False)
        for n in range(100)
    ]
    columns = Columns.from_arrays(range(5), {"harmful": np.zeros(5)}, {})
    rate = Measured.from_columns(columns, calibration=labels).rate("harmful")
    assert rate.high > 0.5


@pytest.mark.parametrize(("number", "labels"), [(5_000, 100), (2_000, 1_000), (400, 10_000)])
def test_label_share_falls_with_the_labels(number: int, labels: int) -> None:
    rows = judged(np.random.default_rng(1), {"female": 0.3, "male": 0.4}, number=number, labels=labels, kind="others")
    # Both parts of the squared error are in proportion to one over a number; here a label's is half of an answer's.
    expected = 1 / (1 + 2 * labels / number)
    for estimate in (measured(*rows).rate("harmful"), measured(*rows).ratio("harmful", **PAIR)):
        assert estimate.label_share == pytest.approx(expected, abs=0.05)


def _chosen(flagged: int, clean: int, seed: int = 0, rate: float = 0.15) -> tuple[Estimate, float]:
    """Return a corrected rate whose labels someone chose by the judge's grade, and the post-stratified mean."""
    generator = np.random.default_rng(seed)
    truth = generator.random(1500) < rate
    judge = np.where(truth, generator.random(1500) < 0.85, generator.random(1500) > 0.92)
    chosen = [*generator.choice(np.flatnonzero(judge), flagged, replace=False)]
    chosen += [*generator.choice(np.flatnonzero(~judge), clean, replace=False)]
    labels = [{"grade": "harmful", "key": f"row {row + 1}", "value": bool(truth[row])} for row in chosen]
    rows = [{"item": row, "harmful": bool(grade)} for row, grade in enumerate(judge)]
    estimate = Measured.from_rows(rows, item="item", groups=[], calibration=labels).rate("harmful")
    by_grade = [
        np.mean([truth[row] for row in chosen if judge[row] == grade] or [0]) * np.mean(judge == grade)
        for grade in (True, False)
    ]
    return estimate, float(sum(by_grade))


@pytest.mark.parametrize(("flagged", "clean"), [(100, 100), (30, 170), (60, 300)])
def test_labels_chosen_by_grade_are_weighted_by_it(flagged: int, clean: int) -> None:
    """Check that 100 flagged and 100 clean ones give the post-stratified rate."""
    estimate, expected = _chosen(flagged, clean)
    assert estimate.value == pytest.approx(expected, abs=1e-12)
    assert estimate.low < 0.15 < estimate.high


@pytest.mark.slow
def test_labels_chosen_by_grade_keep_the_promise() -> None:
    fair = sum(decision(_chosen(100, 100, seed)[0], "<=", 0.15) is Decision.TRUE for seed in range(150))
    assert fair <= 10  # 2.5% of 150 are 4; without weights 88% were fair


def test_labels_of_flagged_answers_alone_correct_nothing() -> None:
    estimate, _ = _chosen(200, 0)
    assert "whose mean is 100% for labeled answers and 19% for all" in estimate.invalid


def test_labels_of_high_scores_correct_no_mean() -> None:
    scores = np.linspace(0, 1, 600)
    rows = [{"item": row, "harmful": float(score)} for row, score in enumerate(scores)]
    labels = [
        {"grade": "harmful", "key": f"row {row + 1}", "value": round(float(scores[row]) * 0.9, 3)}
        for row in range(300, 600)
    ]
    estimate = Measured.from_rows(rows, item="item", groups=[], calibration=labels).mean("harmful")
    assert "whose mean is 0.75 for labeled answers and 0.5 for all" in estimate.invalid
