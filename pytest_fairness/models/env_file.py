"""Environment variables of the process, and of a named ``.env`` file."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.lazy_patterns import lazy_pattern

_LINE = lazy_pattern(
    r"""\s*(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_.]*)\s*=\s*
    (?: '(?P<single>[^']*)' | "(?P<double>(?:[^"\\]|\\.)*)" | (?P<plain>[^'"\s\#][^\r\n]*?)? )
    \s*(?:(?:^|(?<=\s))\#.*)?""",
    re.VERBOSE,
)
_ESCAPE = {"n": "\n", "t": "\t", "r": "\r"}


def read_environment(env_file: Path | None = None) -> dict[str, str]:
    """Return the variables of a named file and of the process, which has precedence.

    Raises:
        FairnessError: The file is missing, or a line is malformed; the message shows no value.
    """
    return {**({} if env_file is None else _read_file(env_file)), **os.environ}


def _read_file(path: Path) -> dict[str, str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise FairnessError(f"environment file {path} cannot be read: {reason}") from None
    variables: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise FairnessError(f"{path}:{number}: not a line of an environment file: write NAME=VALUE")
        variables[match["name"]] = _value(match)
    return variables


def _value(match: re.Match[str]) -> str:
    if match["single"] is not None:
        return match["single"]
    if match["double"] is not None:
        return re.sub(r"\\(.)", lambda escaped: _ESCAPE.get(escaped[1], escaped[1]), match["double"])
    return match["plain"] or ""
