"""The mode of provider batches, and the models that have them."""

from __future__ import annotations

from typing import Literal

from pytest_fairness.core.protocols import Model

BatchMode = Literal["submit", "wait"]
"""The treatment of batches that have not ended: a later run fetches them, or this one waits."""
SUBMITTING = 60.0
"""Seconds to wait at the end for a submission in progress."""


def batch_size(mode: BatchMode | None, model: Model) -> int | None:
    """Return the largest size of a model's batches; None where requests are sent one by one."""
    if mode is None or model.local:
        return None
    from pytest_fairness.core.batch_api import batches_of

    batches = batches_of(model)
    return None if batches is None else batches.most_requests
