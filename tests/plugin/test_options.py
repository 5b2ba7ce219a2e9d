"""Options are declared once: command line, ini keys, settings, repeat commands and the page of the docs agree."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from pytest_fairness.plugin.config.ini_file import IniFile
from pytest_fairness.plugin.config.options import OPTIONS, REMOVED
from pytest_fairness.plugin.config.settings import Settings, default_settings, read_settings
from tests.helpers.options_page import PAGE, with_options_table

REPEATED = {
    "model": ["simulated:a", "simulated:b?temperature=0"],
    "judge": ["simulated:j"],
    "repetitions": ["3"],
    "resolve": [],
    "max-age": ["12h"],
    "baseline": ["latest"],
    "sample": ["7"],
    "profile": ["audit"],
    "where": ["context=ambig", "context=clear", "sex=man"],
    "seed": ["9"],
    "store": ["other.sqlite"],
    "propensity": [],
}


def settings_of(pytester: pytest.Pytester, *args: str) -> Settings:
    config = pytester.parseconfig(*args)
    return read_settings(config, IniFile(config))


def test_options_page_holds_the_declared_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_options_table(page) == page, "run `python -m tests.helpers.options_page`"


def test_every_option_has_a_field_and_an_ini_key(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfig()
    assert {option.field for option in OPTIONS} <= {field.name for field in fields(Settings)}
    assert len({option.name for option in OPTIONS}) == len(OPTIONS)
    for option in OPTIONS:
        assert not config.getini(option.dest)
        assert option.help.rstrip(")`").endswith(".") is False
        assert not option.requires or option.requires in {other.name for other in OPTIONS}


def test_settings_without_options_are_the_defaults(pytester: pytest.Pytester) -> None:
    config = pytester.parseconfig()
    settings, defaults = read_settings(config, IniFile(config)), default_settings(config)
    for field in fields(Settings):
        assert getattr(settings, field.name) == getattr(defaults, field.name)
    assert defaults.arguments == []


def test_repeat_arguments_give_the_same_settings(pytester: pytest.Pytester) -> None:
    assert set(REPEATED) == {option.name for option in OPTIONS if option.repeat}
    pytester.makeini("[pytest]\n")
    typed = [
        *(f"--fairness-{name}={value}" for name, values in REPEATED.items() for value in values),
        *(f"--fairness-{name}" for name, values in REPEATED.items() if not values),
    ]
    settings = settings_of(pytester, *typed)
    again = settings_of(pytester, *settings.arguments)
    for option in OPTIONS:
        if option.repeat:
            assert getattr(again, option.field) == getattr(settings, option.field), option.name
    assert len(settings.arguments) == len(typed)
    assert isinstance(settings.store, Path)


@pytest.mark.parametrize("name", REMOVED)
def test_removed_option_is_refused_with_its_replacement(pytester: pytest.Pytester, name: str) -> None:
    with pytest.raises(pytest.UsageError, match=re.escape(f"--fairness-{name} is gone: {REMOVED[name]}")):
        settings_of(pytester, f"--fairness-{name}", "x")
    key = f"fairness_{name.replace('-', '_')}"
    pytester.makeini(f"[pytest]\n{key} = x\n")
    with pytest.raises(pytest.UsageError, match=re.escape(f"tox.ini:2: {key} is gone: {REMOVED[name]}")):
        settings_of(pytester)


def test_there_are_at_most_thirty_options() -> None:
    assert len(OPTIONS) <= 30


@pytest.mark.parametrize("option", [option for option in OPTIONS if option.excludes], ids=lambda option: option.name)
def test_excluded_options_are_refused(pytester: pytest.Pytester, option: object) -> None:
    flags = {"certify": "=latest", "verify": "=results.json", "shard": "=1/2"}
    for other in option.excludes:  # type: ignore[attr-defined]
        names = option.name, other  # type: ignore[attr-defined]
        typed = [f"--fairness-{name}{flags.get(name, '')}" for name in names]
        message = "--fairness-{} and --fairness-{} cannot be in one run: drop one".format(*names)
        with pytest.raises(pytest.UsageError, match=message):
            settings_of(pytester, *typed, "--fairness-run=r1")
