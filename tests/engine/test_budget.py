"""Decisions of a budget: values that the store writes, and that count only once they are written."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_fairness.core.attempts import Answer, Attempt
from pytest_fairness.core.errors import TransientError
from pytest_fairness.core.items import Prompt
from pytest_fairness.engine.budget import Budget, Caps
from pytest_fairness.engine.requests import Request, build_requests
from pytest_fairness.store.spending import SpendingEntry
from tests.helpers.engine_models import CountingModel


def requests_of(count: int) -> list[Request]:
    return build_requests([Prompt(f"prompt {number}") for number in range(count)], CountingModel(), 1)


def entries_of(others: Sequence[SpendingEntry]) -> list[tuple[int, int]]:
    return [(entry.requests, entry.held) for entry in others]


def test_a_repeated_decision_counts_once() -> None:
    """Count a retry once, though a database that breaks off repeats the transaction."""
    budget, requests = Budget(Caps(requests=3)), requests_of(3)
    wanted = {request.key: request for request in requests}
    first, second = (budget.decide(wanted, wanted.keys(), []) for _ in range(2))
    assert entries_of(first.entries) == entries_of(second.entries) == [(3, 3)]
    assert not second.refused
    assert entries_of(budget.decide({}, (), []).entries) == []
    budget.commit(second, requests)
    assert entries_of(budget.decide_retry(requests[0], []).entries) == []
    assert budget.decide_retry(requests[0], []).refused == {requests[0].key}
    reasons = [budget.reason]  # the cap counts once the decision is taken over
    budget.commit(budget.decide_retry(requests[0], []), retried=requests[0])
    assert [*reasons, budget.reason] == ["", "the cap of 3 requests was reached"]


def test_a_retry_within_the_cap_is_written_with_its_decision() -> None:
    budget, (request,) = Budget(Caps(requests=2)), requests_of(1)
    budget.commit(budget.decide({request.key: request}, {request.key}, []), [request])
    decisions = [budget.decide_retry(request, []) for _ in range(2)]
    assert [entries_of(decision.entries) for decision in decisions] == [[(2, 1)], [(2, 1)]]
    budget.commit(decisions[1], retried=request)
    assert budget.decide_retry(request, []).refused == {request.key}


@pytest.mark.parametrize("ends_between", [True, False])
def test_an_answer_that_ends_during_a_decision_ends_the_wait(*, ends_between: bool) -> None:
    """End the wait: the event loop may end the last call while the store's thread decides."""
    budget = Budget(Caps(usd=0.015), price=lambda _: (0.0, 5000.0), longest=lambda _: 2.0)
    first, second = requests_of(2)
    budget.commit(budget.decide({first.key: first}, {first.key}, []), [first])
    decision = budget.decide({second.key: second}, {second.key}, [])
    assert (decision.refused, decision.waits) == ({second.key}, True)
    attempt = Attempt(first.key, 0, Answer("Yes", usage={"input": 1, "output": 1}))
    if ends_between:
        budget.end(first, attempt)
        budget.commit(decision)
        assert not budget.waits
    else:
        budget.commit(decision)
        assert budget.waits
        budget.end(first, attempt)
    assert not budget.waits
    assert not budget.decide({second.key: second}, {second.key}, []).refused


def priced(cap: float, output: float = 2.0) -> Budget:
    """Return a budget of a model whose answers cost 0.125 USD a token."""
    return Budget(Caps(usd=cap), price=lambda _: (0.0, 125_000.0), longest=lambda _: output)


def allowed(budget: Budget, count: int, others: Sequence[SpendingEntry] = ()) -> int:
    wanted = {request.key: request for request in requests_of(count)}
    return count - len(budget.decide(wanted, wanted.keys(), others).refused)


def test_cap_may_be_reached_and_not_passed() -> None:
    assert [allowed(priced(cap), 4) for cap in (0.24, 0.25, 0.74, 0.75)] == [0, 1, 2, 3]
    assert [allowed(Budget(Caps(requests=cap)), 4) for cap in (1, 3)] == [1, 3]


def test_calls_of_others_count_with_what_calls_have_cost_so_far() -> None:
    model = requests_of(1)[0].model.key
    # Four calls have cost 2 USD; three more are in flight, of which another process expects less.
    entry = SpendingEntry(model, "probes", requests=7, calls=4, usd=2.0, held=3, held_usd=0.3)
    assert [allowed(priced(cap), 4, [entry]) for cap in (3.9, 4.0, 4.5)] == [0, 1, 2]


@pytest.mark.parametrize("usage", [{}, {"output": 1}, {"input": 1}])
def test_answer_without_both_counts_costs_what_was_expected(usage: dict[str, int]) -> None:
    budget, requests = priced(0.75), requests_of(1)
    budget.begin(requests)
    budget.end(requests[0], Attempt(requests[0].key, 0, Answer("Yes", usage=usage)))
    (entry,) = budget.decide({}, (), []).entries
    assert entry.usd == 0.25


@pytest.mark.parametrize("usage", [{}, {"input": 1}])
def test_long_answer_without_counts_costs_what_its_text_does(usage: dict[str, int]) -> None:
    budget, (first, second) = priced(10.0), requests_of(2)
    budget.begin([first])
    budget.end(first, Attempt(first.key, 0, Answer("long" * 60, usage=usage, reasoning="hmm " * 10)))
    (entry,) = budget.decide({}, (), []).entries
    assert entry.usd == 70 * 0.125
    assert budget.decide({second.key: second}, {second.key}, []).refused == {second.key}


@pytest.mark.parametrize(("sent", "usd"), [(True, 0.25), (False, 0.0)])
def test_failed_request_is_paid_only_where_it_was_sent(*, sent: bool, usd: float) -> None:
    budget, requests = priced(0.75), requests_of(1)
    budget.begin(requests)
    budget.failed(requests[0], TransientError("no answer", sent=sent))
    (entry,) = budget.decide({}, (), []).entries
    assert entry.usd == usd
