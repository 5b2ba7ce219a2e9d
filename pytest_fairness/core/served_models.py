"""Names of models as servers give them: the requested model, a snapshot of it, or another one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

LEAST_SHARED = 0.5
"""The share of answers that two compared groups need from the same models, or nothing compares them."""
NOTICED_SHARE = 0.9
"""The share below which different models are named beside the verdict."""
_RELEASE = re.compile(
    r"""[-@_:](?:
        (?P<date>\d{4}-?\d{2}-?\d{2} | \d{2}-\d{2} | \d{2}-\d{4} | \d{3,4} | \d{6})
        | latest | preview | exp | v\d+(?:[:.]\d+)? | free | beta | nitro | floor | exacto | extended
    )$""",
    re.VERBOSE,
)
"""The end of the name of a dated snapshot, a release or a way of delivery."""


@lru_cache(maxsize=1024)
def is_same_model(requested: str, served: str) -> bool:
    """Return whether the name that a server gives is that of the requested model, or of a snapshot of it.

    Snapshots of two dates are two models.

    >>> [is_same_model("gpt-4o", name) for name in ("gpt-4o-2024-08-06", "openai/gpt-4o", "gpt-4o-mini")]
    [True, True, False]
    >>> is_same_model("gpt-4o-2024-05-13", "gpt-4o-2024-08-06")
    False
    """
    (one, its_date), (other, other_date) = _split_name(requested), _split_name(served)
    is_dated = bool(its_date and other_date)
    if is_dated and not (its_date.endswith(other_date) or other_date.endswith(its_date)):
        return False
    return _is_same_name(one, other)


def is_other_snapshot(requested: str, served: str) -> bool:
    """Return whether a server names a snapshot of the requested model that has another date of the same form.

    >>> is_other_snapshot("gpt-4-0314", "gpt-4-0613"), is_other_snapshot("gpt-4o-001", "gpt-4o-2024-08-06")
    (True, False)
    """
    (one, its_date), (other, other_date) = _split_name(requested), _split_name(served)
    return its_date != other_date and len(its_date) == len(other_date) and _is_same_name(one, other)


def _is_same_name(one: str, other: str) -> bool:
    longer, shorter = (one, other) if len(one) > len(other) else (other, one)
    return longer == shorter or (
        bool(shorter) and longer.endswith(shorter) and longer[-len(shorter) - 1] in _BEFORE_NAME
    )


_BEFORE_NAME = "/."
"""The characters between the name of a provider, or a region, and that of its model."""
_DECIMAL = re.compile(r"(?<=\d)\.(?=\d)")


def _split_name(name: str) -> tuple[str, str]:
    """Return a model's name without its release, in one spelling, and the digits of its date."""
    name, date = name.strip().casefold().rstrip("/"), ""
    while (match := _RELEASE.search(name)) and match.start():
        date = (match["date"] or "").replace("-", "") or date
        name = name[: match.start()]
    return _DECIMAL.sub("-", name), date


def short_name(model: str) -> str:
    """Return the name of a model without provider and parameters.

    >>> short_name("openai:gpt-4o?temperature=0")
    'gpt-4o'
    """
    return model.partition("?")[0].partition(":")[2]


@dataclass(frozen=True, slots=True)
class Origin:
    """The requested model of a sample, and the models that answered, as servers name them."""

    model: str
    """Its name: ``provider:name?parameters``."""
    served_by: Mapping[str, int]
    """The numbers of answers."""

    @property
    def name(self) -> str:
        """The name without provider and parameters."""
        return short_name(self.model)

    def mistaken_for(self, other: Origin) -> str:
        """Return that most answers are by the model that another sample is of; empty if they are not.

        >>> old = Origin("openai:old", {"old-2026-01-01": 480})
        >>> Origin("openai:new", {"old-2026-01-01": 400, "new": 80}).mistaken_for(old)
        'old-2026-01-01 answered in place of new in 400 of 480 answers, as the server says'
        >>> Origin("openai:new", {"new-2026-05-05": 480}).mistaken_for(old)
        ''
        """
        if is_same_model(self.name, other.name):
            return ""
        by_other = {
            served: count
            for served, count in self.served_by.items()
            if is_same_model(other.name, served) and not is_same_model(self.name, served)
        }
        count, total = sum(by_other.values()), sum(self.served_by.values())
        if 2 * count <= total:
            return ""
        return (
            f"{' and '.join(by_other)} answered in place of {self.name} in {count:,} of {total:,} answers, as the "
            "server says"
        )


def unlike_responders(responders: Mapping[str, Mapping[str, int]], least_shared: float = LEAST_SHARED) -> str:
    """Return that two compared groups were answered by different models; empty where all share enough of them.

    Args:
        responders: The answers of each group by the model that gave them.
        least_shared: The least share of answers that two groups must have from the same models.

    >>> unlike_responders({"f": {"big": 80}, "m": {"mini": 60, "big": 20}})
    'f was answered by big, and m by mini (75%) and big (25%)'
    >>> unlike_responders({"f": {"big": 70, "mini": 10}, "m": {"big": 40, "mini": 40}})
    ''
    """
    for one, other in combinations(responders, 2):
        first, second = _shares(responders[one]), _shares(responders[other])
        if sum(min(share, second.get(name, 0.0)) for name, share in first.items()) < least_shared:
            return f"{one} was answered by {_listed(first)}, and {other} by {_listed(second)}"
    return ""


def _shares(counts: Mapping[str, int]) -> dict[str, float]:
    total = sum(counts.values())
    return {name: count / total for name, count in counts.items()}


def _listed(shares: Mapping[str, float]) -> str:
    return " and ".join(name if len(shares) == 1 else f"{name} ({share:.0%})" for name, share in shares.items())
