"""``pytest-fairness new``: a suite that runs, as a start for the user's own."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path
from string import Template

from pytest_fairness.cli.arguments import Commands, add_command
from pytest_fairness.core.errors import FairnessError

_TEMPLATES = Path(__file__).with_name("new_suite")
_FILES = {"README.md": "README.md.txt", "data.json": "data.json.txt", "test_{suite}.py": "test_suite.py.txt"}
_HOME = Path("suites")
_DEVICE = re.compile(r"con|prn|aux|nul|(com|lpt)[1-9]")
STAND_IN = "simulated:demo"


def add(commands: Commands) -> None:
    """Declare the command."""
    new = add_command(commands, "new", "write a suite that runs: probe, data, thresholds, card")
    new.add_argument(
        "suite", type=Path, metavar="SUITE", help=f"name of the suite, for a folder in {_HOME}/, or the folder"
    )
    new.set_defaults(run=_new)


def _new(options: argparse.Namespace) -> None:
    if not options.suite.name:
        raise FairnessError("this names no suite (an unset variable?): give a name, as in letting")
    folder = options.suite if len(options.suite.parts) > 1 else _HOME / options.suite
    for file in write_suite(folder):
        print(f"written: {file}")
    print("try it on a simulated model, then name your model, or write a `model` fixture in conftest.py:")
    print(f"  pytest {shlex.quote(folder.as_posix())} --fairness-model {STAND_IN}")


def write_suite(folder: Path) -> list[Path]:
    """Write a suite into a new folder, and return the files.

    Raises `FairnessError` for an invalid name, a folder that exists, and one that cannot be written.
    """
    suite = folder.name
    if not re.fullmatch(r"[a-z][a-z0-9_]*", suite, re.ASCII):
        raise FairnessError(
            f"{suite!r} is no name of a suite: write small letters, digits and _, a letter first, as in letting"
        )
    if _DEVICE.fullmatch(suite):
        raise FairnessError(f"{suite!r} is a device on Windows, and can be no folder there: choose another name")
    try:
        folder.mkdir(parents=True)
        written = []
        for name, template in _FILES.items():
            text = Template((_TEMPLATES / template).read_text(encoding="utf-8")).substitute(
                suite=suite, folder=folder.as_posix()
            )
            file = folder / name.format(suite=suite)
            file.write_text(text, encoding="utf-8")
            written.append(file)
    except FileExistsError as error:
        raise FairnessError(
            f"{error.filename} is there already, and nothing is overwritten: choose another name"
        ) from None
    except OSError as error:
        raise FairnessError(f"{error.filename} cannot be written: {error.strerror}") from None
    return written
