"""Commands of ``pytest-fairness`` that are a pytest run with an option of its own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_fairness.core.errors import FairnessError

_RUN = re.compile(r"latest|[0-9a-f]{6,32}")
_LOADED_ALREADY = "ignore:Module already imported so cannot be rewritten:pytest.PytestAssertRewriteWarning"


def certify(arguments: Sequence[str]) -> int:
    """``pytest --fairness-certify RUN ...``; without a run, the latest. The exit code of pytest."""
    first = arguments[0] if arguments else ""
    named = _RUN.fullmatch(first) and not Path(first).exists()
    run, rest = (first, arguments[1:]) if named else ("latest", arguments)
    return in_pytest(f"--fairness-certify={run}", *rest)


def plan(arguments: Sequence[str]) -> int:
    """``pytest --fairness-plan ...``. The exit code of pytest."""
    return in_pytest("--fairness-plan", *arguments)


def verify(results: str, arguments: Sequence[str]) -> int:
    """``pytest --fairness-verify RESULTS ...``; without more, on the files of its tests. The exit code of pytest."""
    from pytest_fairness.session.dry_runs.claims import Claims, read_claims

    if not arguments:
        try:
            arguments = Claims(Path(results), read_claims(Path(results))).files(Path.cwd())
        except FairnessError:  # pytest says what is wrong with the file
            arguments = ()
    return in_pytest(f"--fairness-verify={results}", *arguments)


def in_pytest(*arguments: str) -> int:
    """Run pytest in this process. Its exit code."""
    return int(pytest.main(["-W", _LOADED_ALREADY, *arguments]))
