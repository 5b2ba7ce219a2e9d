"""Prices of a model's tokens: as the user gives them, else as the library genai-prices lists them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from pytest_fairness.core.protocols import Model

Price = tuple[float, float]
"""USD per million tokens of input and of output."""

FREE: Price = (0.0, 0.0)
ANY = ""
"""Names the price of every model that has none of its own."""


def price_of(model: Model, given: Mapping[str, Price]) -> Price | None:
    """Return a model's price; None where it is not known.

    ``given`` holds the user's prices, by the model's name or under `ANY`. A model that answers without a connection
    costs nothing. Of the others the list knows those that are asked at their provider's own address; it comes with
    the library's release, without any connection. Discounts (of a cache, of a batch) are not counted, so what is
    reported is rather too much.
    """
    if (price := given.get(model.name, given.get(ANY))) is not None:
        return price
    if model.local:
        return FREE
    billed: tuple[str, str] | None = getattr(model, "billed", None)
    return None if billed is None else _listed(*billed)


@cache
def _listed(name: str, url: str) -> Price | None:
    """Return the listed price of a provider's model, asked at this address."""
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    try:
        listed = calc_price(Usage(input_tokens=1000, output_tokens=1000), name, provider_api_url=url)
    except LookupError:
        return None
    price = float(listed.input_price) * 1000, float(listed.output_price) * 1000
    return price if any(price) else None  # the list has zeros where it does not know
