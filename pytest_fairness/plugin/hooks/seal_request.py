"""The request of ``pytest-fairness seal``: a run of pytest that seals its thresholds, in place of measuring them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.plugin.config.invocation import run_pytest


@dataclass(slots=True, eq=False)
class SealRequest:
    """A plugin of a run that seals, and what the run has written."""

    path: Path | None = None
    """The file; None where the run has written none."""
    thresholds: int = 0
    probes: int = 0
    unsealed: dict[str, str] = field(default_factory=dict)
    """The reasons why thresholds could not be sealed, by the ids of their tests."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[SEALING] = self


SEALING: pytest.StashKey[SealRequest] = pytest.StashKey()


def seal(arguments: list[str]) -> SealRequest:
    """Run pytest with these arguments, and return the seal that it has written.

    Raises:
        FairnessError: There is nothing to seal, or a threshold cannot be sealed.
    """
    request = SealRequest()
    code = run_pytest(
        "-q", "--no-header", "--no-summary", "-n0", "-p", "no:cacheprovider", *arguments, plugins=[request]
    )
    if request.unsealed:
        test, reason = next(iter(request.unsealed.items()))
        more = f" ({len(request.unsealed) - 1} more)" if len(request.unsealed) > 1 else ""
        raise FairnessError(f"nothing was sealed: {test}: {reason}{more}")
    if code in (pytest.ExitCode.INTERRUPTED, pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR):
        raise FairnessError(f"nothing was sealed, as pytest ended with {int(code)}: mend what it names above")
    if request.path is None:
        raise FairnessError("nothing was sealed, as no threshold was selected: name tests as for pytest")
    return request
