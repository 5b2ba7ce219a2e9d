"""Tests of the redaction of secrets in texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.secrets import _KEY_LIKE, HIDDEN, redacted

SECRET = "abcdefgh12345678"
BEFORE = (
    *("Bearer ", "bearer \t", "Authorization: ", 'authorization": "Basic ', "api-key: ", "X-Api-Key=", "api-key='"),
    *("aws_secret_access_key = ", "AWS_SECRET_ACCESS_KEY:", "?api_key=", "&apikey=", "?api-key=", "&key=", "?token="),
    *("&access_token=", "?access-token=", "&accesstoken=", "?code=", "&sig=", "?signature=", "&client_secret="),
)
WORDS = st.sampled_from(
    ["the nurse", "key", "a code", "token = low", "signature", "secretary", "Zoë", "?a=b&", "\n", ":"]
)


@pytest.mark.parametrize("case", [str, str.upper, str.lower], ids=["as-written", "upper", "lower"])
def test_secret_is_redacted_by_the_text_before_it(case: type[str]) -> None:
    for before in BEFORE:
        assert redacted(f"at {case(before)}{SECRET}") == f"at {case(before)}{HIDDEN}"


@given(st.lists(WORDS), st.sampled_from(BEFORE), st.lists(WORDS))
def test_secret_is_redacted_in_any_text(left: list[str], before: str, right: list[str]) -> None:
    text = redacted(" ".join([*left, f"{before}{SECRET}", *right]))
    assert SECRET not in text
    assert HIDDEN in text


@given(st.lists(WORDS))
def test_text_without_a_secret_is_unchanged(words: list[str]) -> None:
    assert redacted(" ".join(words)) == " ".join(words)


@given(st.lists(WORDS), st.from_regex(_KEY_LIKE.pattern, fullmatch=True), st.lists(WORDS))
def test_each_form_of_a_key_is_redacted_in_any_text(left: list[str], key: str, right: list[str]) -> None:
    text = redacted(" ".join([*left, key, *right]))
    assert key not in text
    assert HIDDEN in text
