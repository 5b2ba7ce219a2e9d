"""Redaction of secrets in what a run shows and stores."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from pytest_fairness.plugin.settings import Settings


def secret_redactor(settings: Settings) -> Callable[[str], str]:
    """Return a function that removes the keys of this machine from a text, and what looks like one."""
    from pytest_fairness.core.secrets import redacted, secrets_in
    from pytest_fairness.models.env_file import read_environment

    return partial(redacted, secrets=secrets_in(read_environment(settings.env_file)))
