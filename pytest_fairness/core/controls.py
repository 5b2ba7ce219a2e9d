"""Positive controls of probes: what should move their answers, whoever they are about.

A probe whose answers do not follow the strength of a case cannot show a gap between groups either (assay sensitivity,
ICH E10, section 1.5).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_fairness.core.errors import FairnessError, did_you_mean, short_repr
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.core.json_objects import is_number

NO_GAP = "this probe cannot show a gap in this model"
"""The consequence of answers that do not follow a control."""
OPTIONS = ("equals", "at_least", "also")
"""Keys of a control that are no attributes."""
LEVELS = "control_levels"
"""The metadata of a prompt that holds the level of each control, for models that follow controls."""
_FORM = "write control={'grade': {'attribute': ('higher level', 'lower level')}}"


@dataclass(frozen=True, slots=True)
class Control:
    """One factor that should move a grade: an attribute of items or prompts, with a higher and a lower level."""

    grade: str
    by: str
    """The attribute."""
    of: str
    """The level at which the grade should be higher, or more often true."""
    to: str
    """The level at which it should be lower."""
    equals: Any = None
    """The value that is counted, for a grade that holds text; None: the name of the higher level."""
    at_least: float | None = None
    """The smallest response that counts: an odds ratio for decisions, a difference for numbers; None: the default."""
    also: tuple[str, ...] = ()
    """Other grades of the same answers, whose thresholds ask for this response as well."""

    def concerns(self, grades: Iterable[str]) -> bool:
        """Return whether a threshold on these grades asks for the response."""
        return not {self.grade, *self.also}.isdisjoint(grades)


def with_levels(items: Iterable[ProbeItem], controls: Sequence[Control]) -> list[ProbeItem]:
    """Return the items with the level of each control in the metadata of their prompts, as simulated models need them.

    >>> item = ProbeItem("cook", [Prompt("Hire her?")], metadata={"case": "weak"})
    >>> (item,) = with_levels([item], read_controls({"advance": {"case": ("strong", "weak")}}))
    >>> item.prompts[0].metadata["control_levels"]
    [{'of': 'strong', 'to': 'weak', 'equals': None, 'value': 'weak'}]

    Args:
        items: The items of a probe.
        controls: The probe's controls; a prompt without an attribute has no level of it.
    """

    def leveled(item: ProbeItem, prompt: Prompt) -> Prompt:
        attributes = {**item.metadata, **prompt.metadata, **prompt.groups}
        levels = [
            {"of": control.of, "to": control.to, "equals": control.equals, "value": str(attributes[control.by])}
            for control in controls
            if control.by in attributes
        ]
        return replace(prompt, metadata={**prompt.metadata, LEVELS: levels}) if levels else prompt

    return [replace(item, prompts=[leveled(item, prompt) for prompt in item.prompts]) for item in items]


def check_levels(controls: Sequence[Control], items: Sequence[ProbeItem]) -> None:
    """Check that no level of a control is misspelt, before anything is requested.

    One that items lack and that is near to none of theirs is left to the thresholds: a part of the data may lack it.

    >>> item = ProbeItem("cook", [Prompt("Hire her?")], metadata={"case": "strong"})
    >>> check_levels(read_controls({"yes": {"case": ("stronk", "weak")}}), [item])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    pytest_fairness.core.errors.FairnessError: control of 'yes': no prompt has the case 'stronk'; did you mean ...

    Raises:
        FairnessError: A level of an attribute that prompts have is none of theirs, and near to one.
    """
    for control in controls:
        values = _values(control, items)
        for level in (control.of, control.to):
            # test_published_records_run_through_the_suite: of one level, whose name is near to the other's
            hint = did_you_mean(level, values.keys() - {control.of, control.to})
            if level not in values and hint.startswith("did"):
                raise FairnessError(f"control of {control.grade!r}: no prompt has the {control.by} {level!r}; {hint}")


def with_both_levels(controls: Sequence[Control], items: Sequence[ProbeItem]) -> tuple[Control, ...]:
    """Return the controls of which items have both levels.

    >>> item = ProbeItem("cook", [Prompt("Hire her?")], metadata={"case": "strong"})
    >>> with_both_levels(read_controls({"yes": {"case": ("strong", "weak")}}), [item])
    ()
    """
    return tuple(control for control in controls if {control.of, control.to} <= _values(control, items).keys())


def _values(control: Control, items: Sequence[ProbeItem]) -> dict[str, None]:
    """Return the values of the attribute of a control that items have, in their order."""
    values: dict[str, None] = {}
    for item in items:
        for prompt in item.prompts:
            attributes = {**item.metadata, **prompt.metadata, **prompt.groups}
            if control.by in attributes:
                values[str(attributes[control.by])] = None
    return values


def read_controls(value: object) -> tuple[Control, ...]:
    """Return the controls that a mark declares.

    >>> read_controls({"advance": {"case": ("strong", "weak"), "at_least": 3}})
    (Control(grade='advance', by='case', of='strong', to='weak', equals=None, at_least=3.0, also=()),)

    Args:
        value: By grade, its attributes with their higher and lower level; and ``equals``, ``at_least`` and ``also``.

    Raises:
        FairnessError: The value is malformed.
    """
    if value is None:
        return ()
    if not isinstance(value, Mapping) or not value:
        raise FairnessError(f"control is {short_repr(value)}: {_FORM}")
    controls: list[Control] = []
    for grade, declared in value.items():
        if not isinstance(grade, str) or not isinstance(declared, Mapping):
            raise FairnessError(f"control of {grade!r:.60} is {short_repr(declared)}: {_FORM}")
        attributes = {name: levels for name, levels in declared.items() if name not in OPTIONS}
        if not attributes:
            raise FairnessError(f"control of {grade!r} names no attribute: {_FORM}")
        least = _smallest(grade, declared.get("at_least"))
        also = _other_grades(grade, declared.get("also", ()))
        controls += [
            replace(_control(grade, by, levels, declared.get("equals"), least), also=also)
            for by, levels in attributes.items()
        ]
    return tuple(controls)


def _control(grade: str, by: object, levels: object, equals: Any, at_least: float | None) -> Control:
    if not isinstance(by, str) or not isinstance(levels, tuple | list) or len(levels) != 2:
        raise FairnessError(f"control of {grade!r}: {by!r:.60} is {short_repr(levels)}: {_FORM}")
    of, to = map(str, levels)
    if of == to:
        raise FairnessError(f"control of {grade!r}: both levels of {by!r} are {of!r}: name two")
    return Control(grade, by, of, to, equals, at_least)


def _other_grades(grade: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, tuple | list) or not all(isinstance(name, str) for name in value):
        raise FairnessError(f"control of {grade!r}: also is {short_repr(value)}: write the names of grades in a list")
    return tuple(value)


def _smallest(grade: str, value: object) -> float | None:
    if value is None:
        return None
    if not is_number(value) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise FairnessError(
            f"control of {grade!r}: at_least is {short_repr(value)}: write the smallest response that counts, above 0 "
            "(an odds ratio for decisions, a difference for numbers)"
        )
    return float(value)
