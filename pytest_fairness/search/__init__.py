"""Search with hypothesis for a pair of texts on which a decision flips.

>>> from pytest_fairness.search import any_name
>>> any_name(gender="female")  # doctest: +ELLIPSIS
sampled_from(['Abeer Shaheen', ...])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_fairness.search.strategies import any_name, counterfactual_pairs, profiles

__all__ = ["any_name", "counterfactual_pairs", "profiles"]


def __getattr__(name: str) -> Any:  # `fixture` imports this package without hypothesis
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from pytest_fairness.search import strategies

    return getattr(strategies, name)


def __dir__() -> list[str]:
    return sorted(__all__)
