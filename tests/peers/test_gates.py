"""Gates of others that open: the dotnet skills gate, fairpipe, pytest-evals; and langfair's rewriting of prompts."""

from __future__ import annotations

import json
import statistics

import pytest

from pytest_fairness.core.estimates import Estimate
from tests.helpers import project_sources
from tests.helpers.project import Project, every_mode, in_one_process
from tests.helpers.verdicts import Rows, as_computed, of_rows, verdict

PAIR = {"by": "group", "of": "woman", "to": "man"}


def trials(number: int, value: float) -> Rows:
    return [{"item": trial, "group": "all", "score": value} for trial in range(number)]


@pytest.mark.parametrize("number", [1, 2, 4])
def test_single_trial_is_invalid(number: int) -> None:
    """Regression of the dotnet skills gate: with one trial it had no interval, compared nothing, and passed."""
    measured = of_rows(trials(number, 1.0), extremes={"score": lambda _: (0, 1)})
    for estimate in (measured.rate("score"), measured.mean("score")):
        assert verdict(lambda estimate=estimate: as_computed(estimate) >= 0.5) == "invalid"  # type: ignore[misc]
        assert f"only {number} independent item" in estimate.invalid


@pytest.mark.parametrize("number", [5, 10, 40])
def test_few_agreeing_trials_are_undecided(number: int) -> None:
    """Equal trials have a standard deviation of 0: a gate on the mean less two errors passes at any bound below."""
    scores = [1.0] * number
    assert statistics.mean(scores) - 2 * statistics.stdev(scores) >= 0.99
    measured = of_rows(trials(number, 1.0), extremes={"score": lambda _: (0, 1)})
    assert verdict(lambda: measured.rate("score") >= 0.99) == "undecided"
    assert verdict(lambda: measured.mean("score") >= 0.99) == "undecided"


def test_many_agreeing_trials_are_fair() -> None:
    """Check the control: 400 of 400 are at least 0.99, exactly."""
    assert verdict(lambda: of_rows(trials(400, 1.0)).rate("score") >= 0.99) == "fair"


def one_sided(count: int = 200) -> Rows:
    """Return rows in which women are hired in 30%, men in 70%: the difference is -0.4."""
    return [
        {"item": item, "group": group, "hired": item % 10 < share}
        for item in range(count)
        for group, share in (("woman", 3), ("man", 7))
    ]


def test_gap_in_the_other_direction_is_unfair() -> None:
    """fairpipe compares a signed gap with a bound in Python, and its size in the command: one passes, one fails.

    A gap is written with its size or with both bounds here; both say unfair, whichever group is named first.
    """
    measured = of_rows(one_sided())
    gaps: list[Estimate] = [measured.difference("hired", by="group", of=of, to=to) for of, to in ORDERS]
    assert [round(gap.value, 12) for gap in gaps] == [-0.4, 0.4]
    for gap in gaps:
        assert verdict(lambda gap=gap: abs(as_computed(gap)) <= 0.1) == "unfair"  # type: ignore[misc]
        assert verdict(lambda gap=gap: -0.1 <= as_computed(gap) <= 0.1) == "unfair"  # type: ignore[misc]


ORDERS = (("woman", "man"), ("man", "woman"))


@in_one_process
@pytest.mark.parametrize(("of", "to"), ORDERS)
def test_table_run_and_exit_status_agree(project: Project, of: str, to: str) -> None:
    """Two ways into fairpipe gave two verdicts. A run of pytest, its results file and a table of it give one here."""
    claim = f'abs(measured.difference("hired", by="gender", of="{of}", to="{to}")) <= 0.1'
    project.write_suite(
        project_sources.threshold(f"assert {claim}"), conftest=project_sources.application(project_sources.UNEVEN)
    )
    result = project.run("-m", "threshold")
    row = project.row()
    shares = {"woman": row["groups"]["woman"], "man": row["groups"]["man"]}
    rows = [
        {"item": item, "group": group, "hired": item < round(60 * share)}
        for group, share in shares.items()
        for item in range(60)
    ]
    table = of_rows(rows).difference("hired", by="group", of=of, to=to)
    assert abs(table).value == pytest.approx(row["estimate"])
    assert verdict(lambda: abs(as_computed(table)) <= 0.1) == row["verdict"] == "unfair"
    assert result.ret == 1


@every_mode
def test_results_of_two_workers_are_complete(project: Project) -> None:
    """pytest-evals breaks at the end of a run with ``-n 2``: no results file, and an analysis that sees no case."""
    project.write_suite()
    result = project.run()
    result.assert_outcomes(passed=61)
    assert result.ret == 0
    row = project.row()
    assert (row["items"], row["attempts"], row["verdict"]) == (60, 120, "fair")


def test_later_analysis_sees_every_answer(project: Project) -> None:
    """Run the second step of pytest-evals without the cases of the first: the answers are in the store."""
    project.write_suite(conftest=project_sources.application(version="1"))
    project.run()
    project.forget_calls()
    again = project.run("-m", "threshold")
    assert again.ret == 0
    assert not project.calls()
    assert project.results()["run"]["from_store"] == 120


PRONOUNS = """\
import pytest
from pytest_fairness import ProbeItem, Prompt, YesNo

TEXTS = {
    "man": "a man says that his work is his alone and that it pays him and his. Case %d: is it so?",
    "woman": "a woman says that her work is hers alone and that it pays her and hers. Case %d: is it so?",
}

def people():
    for number in range(6):
        prompts = [Prompt(text % number, groups={"gender": gender}) for gender, text in TEXTS.items()]
        yield ProbeItem(f"case {number}", prompts)

@pytest.mark.probe(items=people, grade={"hired": YesNo()})
def test_hiring(probe_item, model):
    probe_item.measure(model)

def texts():
    return sorted(text % number for text in TEXTS.values() for number in range(6))
"""


@every_mode
def test_prompts_are_sent_as_written(project: Project) -> None:
    """langfair turns every "his" into "hers": "hers work" changed the answers, and passed for an effect of gender.

    No prompt is rewritten here: each group's text is the user's own, and it reaches the model letter by letter.
    """
    project.write(conftest=project_sources.application(), test_hiring=PRONOUNS)
    project.run()
    texts = sorted(project.calls())
    written: dict[str, object] = {}
    exec(PRONOUNS, written)  # noqa: S102 - the source above
    assert texts == written["texts"]()  # type: ignore[operator]
    assert json.dumps(texts).count("hers") == 2 * 6
