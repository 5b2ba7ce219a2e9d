"""Mentions of people in existing texts: slots, and places where grammar would break."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fairness.cli.main import main
from pytest_fairness.counterfactual.detection import mentions


def slots_of(text: str, language: str = "en") -> list[tuple[str, str]]:
    return [(text[mention.start : mention.end], mention.slot) for mention in mentions(text, language)]


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("I saw him.", [("him", "{them}")]),
        ("I saw her.", [("her", "{them}")]),
        ("I saw her CV.", [("her", "{their}")]),
        ("I gave her the job.", [("her", "{them}")]),
        ("It is his.", [("his", "{theirs}")]),
        ("It is his car.", [("his", "{their}")]),
        ("She herself did it.", [("She", "{They}"), ("herself", "{themself}")]),
        ("Has she applied?", [("Has", "{Has|Have}"), ("she", "{they}")]),
        ("He often watches TV.", [("He", "{They}"), ("watches", "{watches|watch}")]),
        ("She tries.", [("She", "{They}"), ("tries", "{tries|try}")]),
        ("She will go.", [("She", "{They}")]),
        ("He went home.", [("He", "{They}")]),
        ("Mrs. Walsh called.", [("Mrs.", "{Title}"), ("Walsh", "{name}")]),
        ("Carly Hansen called.", [("Carly Hansen", "{name}")]),
        ("The woman is here.", [("woman", "{person}")]),
        ("The company sells shoes in Boston.", [("Boston", "")]),
        ("A sheet of heritage theses.", []),
    ],
)
def test_english_mentions_are_found(text: str, slots: list[tuple[str, str]]) -> None:
    assert slots_of(text) == slots


@pytest.mark.parametrize(
    ("text", "language", "slots"),
    [
        ("Er bringt seinen Lebenslauf.", "de", [("Er", "{Er}"), ("seinen", "{seinen}")]),
        ("Der Bewerber ist da.", "de", [("Der", "{Der}"), ("Bewerber", "")]),
        ("Die Bewerberin ist da.", "de", [("Die", ""), ("Bewerberin", "")]),
        ("Die Firma ist da.", "de", []),
        ("Ella llega.", "es", [("Ella", "{Él}")]),
        ("Hablo del candidato.", "es", [("del", "{del}"), ("candidato", "")]),
        ("La casa es grande.", "es", []),
    ],
)
def test_german_and_spanish_mentions_are_found(text: str, language: str, slots: list[tuple[str, str]]) -> None:
    assert slots_of(text, language) == slots


@pytest.mark.parametrize(
    ("text", "word", "message"),
    [
        ("She knows her boss.", "her", "read as {their}, since 'boss' follows"),
        ("They are late.", "They", "several people"),
        ("He is an uncle.", "an", "does not fit 'aunt' and 'relative' alike"),
        ("The actress left.", "actress", "no slot holds 'actress'"),
        ("Zebulon Quux left.", "Zebulon Quux", "may be a name"),
    ],
)
def test_broken_grammar_around_a_mention_is_reported(text: str, word: str, message: str) -> None:
    (breaks,) = [mention.breaks for mention in mentions(text) if text[mention.start : mention.end] == word]
    assert message in breaks


def test_vary_prints_lines_and_columns_of_a_text_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "prompts.txt"
    file.write_text("Nobody is here.\n\nCarly Hansen says she is well.\nThe actress left.\n", encoding="utf-8")
    out = tmp_path / "variants.jsonl"
    assert main(["vary", str(file), "--out", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        f"{file}:3:1: name 'Carly Hansen': {{name}}",
        f"{file}:3:19: pronoun 'she': {{they}}",
        f"{file}:3:23: verb 'is': {{is|are}}",
        f"{file}:4:5: noun 'actress': no slot holds 'actress': vary it as one of your own, over actress, actor",
    ]
    assert "3 texts; gender can be varied in 2; name can be varied in 1; 1 can be written out" in lines[4]
    (row,) = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert row["template"] == "{name} says {they} {is|are} well."
    assert {"text": "Meghan Olson says she is well.", "groups": {"gender": "female", "ethnicity": "white"}} in row[
        "variants"
    ]


def test_vary_counts_json_columns_behind_escapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "prompts.jsonl"
    line = r'{"id": "he", "messages": [{"role": "user", "content": "\u00c4h, \"he\" left."}]}'
    file.write_text(f"\n{line}\n", encoding="utf-8")
    assert main(["vary", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"{file}:2:{line.index('he', 20) + 1}: pronoun 'he': {{they}}"


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ('{"a": "x"}\n{broken\n', [], "p.jsonl:2: "),
        ('{"a": "x y"}', ["--language", "fr"], "language is 'fr'"),
    ],
)
def test_vary_reports_mistakes_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, arguments: list[str], message: str
) -> None:
    file = tmp_path / "p.jsonl"
    file.write_text(content, encoding="utf-8")
    assert main(["vary", str(file), *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert main(["vary", str(tmp_path / "none.txt")]) == 2


def test_vary_escapes_control_characters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.txt"
    file.write_text("Ella Wa\u202elsh\x1b[31m left, and she knew.\n", encoding="utf-8")
    assert main(["vary", str(file)]) == 0
    assert not {"\x1b", "\u202e"} & set(capsys.readouterr().out)
