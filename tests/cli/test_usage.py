"""Commands that are called without what they need, or for their help: their own words, and short."""

from __future__ import annotations

import pytest

from pytest_fairness.cli import main


@pytest.mark.parametrize("name", ["plan", "certify"])
def test_removed_command_names_its_replacement(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert main.main([name, "latest"]) == 2
    assert capsys.readouterr().err.startswith(f"pytest-fairness: {name} is gone: write pytest --fairness-{name}")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["nosuch"], "invalid choice: 'nosuch'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_missing_arguments_are_named(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main.main(arguments)
    assert ended.value.code == 2
    usage, error = capsys.readouterr().err.splitlines()
    assert usage.startswith("usage: pytest-fairness")
    assert words in error
