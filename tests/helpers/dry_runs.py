"""Plans and certificates of few simulated samples, for tests whose subject is not the share of a verdict."""

from __future__ import annotations

import pytest

from pytest_fairness.planning import error_rates, predictions
from tests.helpers.fork_server import set_constants


def simulate_few_samples(patch: pytest.MonkeyPatch) -> None:
    """Draw 20 samples of each truth, in this process and in workers; users wait for 200 or more."""
    set_constants(patch, predictions, DRAWS=20, FEWEST_DRAWS=20, SECONDS=600.0)
    set_constants(patch, error_rates, DRAWS=20, STAGES=1, SECONDS=600.0)
