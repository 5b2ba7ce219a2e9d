"""Commands are collected from the files of the package, and each has help of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fairness import cli
from pytest_fairness.cli.main import main

COMMANDS = (
    "accept", "audit", "compare", "design", "export", "history", "import", "items", "lint", "list", "merge", "models",
    "new", "prune", "report", "schema", "seal", "vary", "verify",
)  # fmt: skip


def shown_help(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    try:
        code: object = main([*arguments, "--help"])
    except SystemExit as ended:
        code = ended.code
    assert code == 0
    return capsys.readouterr().out


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    listed = [line.split()[0] for line in shown_help(capsys).splitlines() if line[:4] == "    " and line[4:5].strip()]
    assert listed == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_command_help_has_its_own_usage(capsys: pytest.CaptureFixture[str], name: str) -> None:
    text = shown_help(capsys, name)
    assert text.startswith(f"usage: pytest-fairness {name} ")
    assert text.isascii()


def test_new_file_adds_a_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        "from pytest_fairness.cli.arguments import add_command\n\n\n"
        "def add(commands):\n"
        '    add_command(commands, "greet", "greet the user").set_defaults(run=lambda _: print("hello"))\n'
    )
    (tmp_path / "greet.py").write_text(source, encoding="utf-8")
    monkeypatch.setattr(cli, "__path__", [*cli.__path__, str(tmp_path)])
    assert main(["greet"]) == 0
    assert capsys.readouterr().out == "hello\n"
    assert "Greet the user." in shown_help(capsys, "greet")
