"""Commands that are called without what they need, or for their help: their own words, and short."""

from __future__ import annotations

import pytest

from pytest_fairness.cli import main


@pytest.mark.parametrize("name", ["plan", "certify", "verify"])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_pytest_commands_show_their_own_usage(capsys: pytest.CaptureFixture[str], name: str, flag: str) -> None:
    assert main.main([name, flag]) == 0
    usage = capsys.readouterr().out
    assert usage.startswith(f"usage: pytest-fairness {name} ")
    assert "pytest.main" not in usage
    assert len(usage.splitlines()) < 12


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["nosuch"], "invalid choice: 'nosuch'"),
        (["verify"], "RESULTS is missing: name a file that --fairness-json wrote"),
        (["verify", "-k", "x"], "RESULTS is missing: name a file that --fairness-json wrote"),
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
