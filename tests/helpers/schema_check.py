"""check-jsonschema in this process: starting one of its own takes more than a second."""

from __future__ import annotations

from pathlib import Path

import pytest


def matches_schema(file: Path, name: str, *options: str) -> bool:
    """Return whether a file matches a schema that check-jsonschema brings along.

    Args:
        file: The file.
        name: The name of the schema.
        options: Further options of the command.

    Returns:
        Whether it does; what it violates is printed.
    """
    from check_jsonschema.cli.main_command import main  # type: ignore[import-untyped]

    with pytest.raises(SystemExit) as ended:
        main(["--builtin-schema", name, *options, str(file)])
    return ended.value.code == 0
