"""Estimates that a threshold compares together: one per group, or per pair of groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pytest_fairness.core.decisions import Decision, current_recorder, refused
from pytest_fairness.core.errors import FairnessError, MisuseError, did_you_mean, short_repr
from pytest_fairness.core.estimates import ComparableNumber, Estimate, Mark
from pytest_fairness.core.formatting import checked_title
from pytest_fairness.core.sealed_estimates import SealedEstimate, unsealed


class EstimateFamily(ComparableNumber):
    """Estimates that must all hold: one per group, or per pair of groups.

    ``family >= 0.8`` holds where every member's interval lies at or above 0.8, and fails
    where a member's simultaneous interval lies below. Iterating gives the members' names;
    ``family["female/male"]`` is an ordinary `Estimate`.

    Args:
        members: The estimates by name, at least one.

    Raises:
        MisuseError: A member is no estimate, but a family, say.
    """

    __slots__ = ("_members", "is_sealed")

    def __init__(self, members: Mapping[str, Estimate]) -> None:
        if not members:
            raise ValueError("a family needs at least one estimate")
        for name, member in members.items():
            if isinstance(member, EstimateFamily):
                raise MisuseError(f"the member {name!r} is a family: give its own members, those of items()")
            if not isinstance(member, Estimate | SealedEstimate):
                raise MisuseError(f"the member {name!r} is {short_repr(member)}: give an estimate")
        sealed = [isinstance(member, SealedEstimate) for member in members.values()]
        self.is_sealed = any(sealed)
        if self.is_sealed and not all(sealed):  # test_family_with_an_estimate_made_by_hand_is_refused
            raise refused("a family in a threshold holds an estimate that was not computed by its test: leave it out")
        self._members = {name: unsealed(member) for name, member in members.items()}
        if self.is_sealed:
            self._members = {_sorted_name(name, member): member for name, member in self._members.items()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, name: str) -> Estimate:
        if self.is_sealed and name not in self._members:
            name = next((own for own, member in self._members.items() if name in _both_names(own, member)), name)
        if not isinstance(name, str) or name not in self._members:
            raise FairnessError(f"the family has no member {short_repr(name)}: {did_you_mean(name, self._members)}")
        return self._shown(self._members[name])

    def items(self) -> Iterator[tuple[str, Estimate]]:
        yield from ((name, self._shown(member)) for name, member in self._members.items())

    def _tabulated(self) -> list[tuple[str, Any]]:
        return list(self.items())

    def _shown(self, member: Estimate) -> Estimate:
        return SealedEstimate(member) if self.is_sealed else member

    def titled(self, title: str) -> EstimateFamily:
        """Return the same family with a title; that of a member ends with the groups that it compares.

        >>> members = {"old/young": Estimate("ratio", "ratio of hired", value=0.9, low=0.8, high=1.0)}
        >>> EstimateFamily(members).titled("offers made")["old/young"].title
        'offers made, old/young'

        Args:
            title: What was estimated, in plain words: one line of 1 to 100 characters.

        Raises:
            FairnessError: The title is empty, too long, or has a line break or control character.
        """
        shown = checked_title(title)
        return EstimateFamily(
            {
                name: self._shown(replace(member, title=f"{shown}, {name}{member.title_note}"))
                for name, member in self._members.items()
            }
        )

    @property
    def mark(self) -> Mark:
        """The worst of its members' marks."""
        return Mark(*self._members.values())

    def deciding(self, op: str, bound: float) -> Estimate:
        """Return the member that decides a comparison: a broken one first, then one that could not be measured.

        Args:
            op: ``<``, ``<=``, ``>`` or ``>=``.
            bound: A finite number.

        Raises:
            FairnessError: In a threshold's test, which compares by ``assert``.
        """
        if self.is_sealed:
            raise refused(f"`deciding` is for notebooks and scripts: write `assert ... {op} {bound}`")
        upwards = op in (">", ">=")
        ranks = {Decision.FALSE: 0, Decision.INVALID: 1, Decision.UNDECIDED: 2, Decision.TRUE: 3}

        def rank(estimate: Estimate) -> tuple[int, float]:
            end = estimate.low if upwards else -estimate.high
            return ranks[estimate.decision(op, bound)], end

        return min(self._members.values(), key=rank)

    def _answer(self, op: str, bound: object) -> bool:
        if self.is_sealed and current_recorder() is None:
            raise FairnessError("a family is compared after its threshold's test has ended: compare it in the test")
        return super()._answer(op, bound)

    def __repr__(self) -> str:
        return "\n".join(repr(member) for _, member in self.items())


def _both_names(name: str, member: Estimate) -> tuple[str, ...]:
    """Return the names of a pair of groups in either order; of any other member its name."""
    groups = list(member.groups)
    if len(groups) != 2 or not (name.startswith(groups[0]) and name.endswith(groups[1])):
        groups = groups[::-1]
    if len(groups) != 2 or not (name.startswith(groups[0]) and name.endswith(groups[1])):
        return (name,)
    first, second = groups
    sign = name[len(first) : len(name) - len(second)]
    return f"{first}{sign}{second}", f"{second}{sign}{first}"


def _sorted_name(name: str, member: Estimate) -> str:
    """Return the name of a pair whose order does not show which group fares worse."""
    return min(_both_names(name, member))


def unsealed_family(family: EstimateFamily) -> EstimateFamily:
    """Return a family of estimates with their numbers, for the code that judges."""
    return EstimateFamily({name: unsealed(member) for name, member in family.items()})
