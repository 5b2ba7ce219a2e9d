"""Patterns that ignore case by lower case find what `re.IGNORECASE` finds."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness import graders
from pytest_fairness.core.lazy_patterns import _CaselessPattern, caseless_pattern, lower
from tests.graders.labeled_answers import NAMES, load


def caseless_patterns() -> Iterator[tuple[str, _CaselessPattern]]:
    """Yield all caseless patterns of the graders, with their names."""
    for module in walk_packages(graders.__path__, f"{graders.__name__}."):
        for name, value in vars(import_module(module.name)).items():
            for pattern in value if isinstance(value, tuple) else (value,):
                if isinstance(pattern, _CaselessPattern):
                    yield f"{module.name.rpartition('.')[2]}.{name}", pattern


PATTERNS = dict(caseless_patterns())
TEXTS = [answer.text for name in NAMES for answer in load(name)[::120]]


def test_all_graders_have_caseless_patterns() -> None:
    assert len(PATTERNS) > 80
    assert len(TEXTS) > 12


def test_spans_are_those_of_ignored_case() -> None:
    for name, pattern in PATTERNS.items():
        plain = re.compile(pattern._text, pattern._flags | re.IGNORECASE)
        for text in TEXTS:
            for cased in (text, text.upper(), text.title()):
                spans = [match.span() for match in pattern.finditer(cased)]
                assert spans == [match.span() for match in plain.finditer(cased)], name
                assert pattern.sub(" - ", cased, count=1) == plain.sub(" - ", cased, count=1), name


ODD = "ISK\u0130\u0131\u017f\u212a\u03a3\u03c2\u03c3\u00df\u1e9e\u00c4\u0401aik "


@given(st.text(ODD, max_size=8), st.text(ODD, min_size=1, max_size=2))
def test_letters_with_a_special_lower_case_are_those_of_ignored_case(text: str, searched: str) -> None:
    plain = re.compile(re.escape(searched), re.IGNORECASE)
    pattern = caseless_pattern(re.escape(searched))
    assert [match.span() for match in pattern.finditer(text)] == [match.span() for match in plain.finditer(text)]


def test_each_character_has_its_place_in_lower_case() -> None:
    text = "".join(map(chr, range(sys.maxunicode + 1)))
    assert len(lower(text)) == len(text)


@pytest.mark.parametrize("text", ["(no)", "(?P<word>no)", "(?-i:No)"])
def test_patterns_whose_matched_text_would_be_read_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="a caseless pattern"):
        caseless_pattern(text).search("No")
