"""Prices of a model's tokens: the user's, else those of the library genai-prices."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from pytest_fairness.core.protocols import Model

Price = tuple[float, float]
"""USD per million tokens of input and of output."""

FREE: Price = (0.0, 0.0)
ANY = ""
"""The key of the price of every model that has none of its own."""


def price_of(model: Model, given: Mapping[str, Price]) -> Price | None:
    """Return a model's price; None where it is unknown.

    A local model costs nothing. The library lists models at their providers' own addresses; its list is part of
    its release, so no connection is made. Discounts (of a cache, of a batch) do not count, so costs are rather
    overestimated.

    Args:
        model: The model.
        given: The user's prices, by the model's name or under `ANY`.
    """
    if (price := given.get(model.name, given.get(ANY))) is not None:
        return price
    if model.local:
        return FREE
    billed: tuple[str, str] | None = getattr(model, "billed", None)
    return None if billed is None else _listed(*billed)


@cache
def _listed(name: str, url: str) -> Price | None:
    """Return the listed price of a provider's model at an address; None where it is not listed."""
    if not url.startswith("https://"):
        return None  # a server of one's own: the list, which takes a while to load, has none
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    try:
        listed = calc_price(Usage(input_tokens=1000, output_tokens=1000), name, provider_api_url=url)
    except LookupError:
        return None
    price = float(listed.input_price) * 1000, float(listed.output_price) * 1000
    return price if any(price) else None  # the list has zeros for unknown prices
