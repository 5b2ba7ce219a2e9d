"""Metrics that other packages define, by the entry-point group ``pytest_fairness.metrics``."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.extensions import METRICS
from pytest_fairness.core.marks import MarkScale
from pytest_fairness.core.metric_kind import MetricKind
from pytest_fairness.stats.custom_metrics import Function, read_span
from pytest_fairness.stats.metric_names import MetricName
from pytest_fairness.stats.outcome_vectors import Outcome


@dataclass(frozen=True, slots=True)
class MetricDefinition:
    """A metric as a function of sums over the sample.

    A function that returns one is what the entry-point group ``pytest_fairness.metrics`` takes. Its positional
    arguments are names of grades, its keyword-only arguments are options.

    >>> def share(grade, *, by, of):
    ...     "Return the share of a grade's total that one group has."
    ...     def of_group(attempt):
    ...         return attempt[grade] * (attempt.prompt.groups.get(by) == of)
    ...     return MetricDefinition(lambda s: s.part / s.whole, {"part": of_group, "whole": grade}, span=(0, 1))
    >>> from pytest_fairness import Measured
    >>> rows = [{"item": n, "sex": sex, "pay": 1 + n % 2} for n in range(40) for sex in ("female", "male")]
    >>> measured = Measured.from_rows(rows, item="item", groups=["sex"])
    >>> measured.metric(share("pay", by="sex", of="female")).value
    0.5
    """

    function: Function
    """A function of sums, which are attributes by name, to a number."""
    sums: Mapping[str, Outcome]
    """Summed over attempts, by name: the name of a grade, or a function of a `GradedAttempt`."""
    span: tuple[float, float] | None = None
    """The range that the metric cannot leave. With (0, inf) its interval is made on the logarithm."""
    scale: MarkScale | None = None
    """The scale of its marks, where a threshold has none of its own; None for no marks."""
    title: str = ""
    """Its name in reports; by default its registered name and arguments."""
    name: str = ""
    """Its name in the results file where it is used without being registered; by default its function's name."""
    kind: MetricKind = MetricKind.CUSTOM
    """The built-in kind as which it is shown. A ratio needs ``span=(0, inf)``: its interval is logarithmic."""
    parity: float | None = None
    """The value where groups are alike, which charts mark; by default that of its kind."""

    def __post_init__(self) -> None:
        if self.kind.log_scale and self.span != (0, math.inf):
            raise FairnessError(
                f"metric of kind {self.kind.value!r} has span {self.span}: its interval is made on the logarithm, "
                "give span=(0, inf)"
            )
        low, high = read_span(self.span) or (-math.inf, math.inf)
        if self.parity is not None and not (math.isfinite(self.parity) and low <= self.parity <= high):
            raise FairnessError(f"parity is {self.parity}: it must be a finite number within the metric's span")


@dataclass(frozen=True, slots=True)
class MetricSignature:
    """The arguments that a registered metric takes in an expression."""

    grades: int
    """The number of names of grades that come first."""
    required: tuple[str, ...]
    optional: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MetricCall:
    """A registered metric with its arguments."""

    name: str
    grades: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    def define(self) -> MetricDefinition:
        """Return the definition that the metric gives for these arguments.

        Raises:
            FairnessError: The metric is not registered, is broken, or takes other arguments.
        """
        try:
            definition = _load(self.name)(*self.grades, **self.options)
        except TypeError as error:
            raise FairnessError(f"metric {self.name!r}: {error}") from error
        if not isinstance(definition, MetricDefinition):
            raise FairnessError(
                f"metric {self.name!r} returned a {type(definition).__name__}: it must return a MetricDefinition"
            )
        return definition

    def metric_name(self, title: str = "") -> MetricName:
        """Return the name of the estimate.

        >>> MetricCall("cohens_h", ("hired",), {"by": "sex", "of": "female", "to": "male"}).metric_name().metric
        'cohens_h(hired; by=sex, of=female, to=male)'
        """
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        arguments = "; ".join(part for part in (", ".join(self.grades), options) if part)
        words = self.name.replace("_", " ")
        of = f" of {' and '.join(self.grades)}" if self.grades else ""
        shown = f"{words}{of}{f' ({options})' if options else ''}"
        return MetricName(f"{self.name}({arguments})", title or shown)


def read_signature(name: str) -> MetricSignature:
    """Return the arguments of a registered metric.

    Raises:
        FairnessError: It is not registered, is broken, or its arguments cannot be read.
    """
    try:
        parameters = inspect.signature(_load(name)).parameters.values()
    except (TypeError, ValueError) as error:
        raise FairnessError(f"metric {name!r} has no readable signature: {error}") from error
    keywords = [parameter for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]
    return MetricSignature(
        sum(parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD) for parameter in parameters),
        tuple(parameter.name for parameter in keywords if parameter.default is parameter.empty),
        tuple(parameter.name for parameter in keywords if parameter.default is not parameter.empty),
    )


def _load(name: str) -> Callable[..., Any]:
    return METRICS.load_callable(name)
