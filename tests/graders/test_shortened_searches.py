"""Texts without the signs of a pattern are not searched for it, with equal results."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from pytest_fairness.core import thinking
from pytest_fairness.graders.extraction import normalization, patterns


def texts(*parts: str) -> st.SearchStrategy[str]:
    """Return texts of a few of these parts."""
    return st.lists(st.sampled_from(parts), max_size=12).map("".join)


SENTENCES = re.compile(
    r"(?<!\bvs\.)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bmrs\.)(?<!\b[md][rs]\.)(?<!\bno\. )(?<=[.!?])[\"')]{0,2}\s{1,9}"
    r"|\n{1,9}",
    re.IGNORECASE,
)
"""Sentences by what stands before their space, read from left to right."""


@given(
    texts(".", "!", "?", '"', "'", ")", " ", "\n", "\t", "\u3000", "vs.", "E.g.", "i.e.", "Mrs.", "no. ", "a", "ds.")
)
def test_sentences_are_those_read_from_left_to_right(text: str) -> None:
    spans = [match.span() for match in patterns.SENTENCES.finditer(text)]
    assert spans == [match.span() for match in SENTENCES.finditer(text)]


@given(
    texts(
        *("<", "|", ">", "\uff1c", "\uff5c", "\u25c1", "\u25b7", "[", "]", "/", "THINK", "think", "channel", "message"),
        *(
            "Th\u0131nk\u0131ng",
            "TH\u0130NK\u0130NG",
            "thin\u212aing",
            "analysi\u017f",
            "ASSISTANT",
            "a\u017f\u017fistant",
            "final",
            "...",
            "\n",
        ),
        *(
            "Here's",
            "HERE IS",
            " a ",
            " my ",
            "thinking process:",
            "thought process",
            "response:",
            "done thinking.",
            "x",
        ),
    )
)
@example("assistantfinal")
@example("Th\u0130nking...\n")
def test_texts_without_a_hint_have_no_mark_of_thinking(text: str) -> None:
    assert bool(list(thinking._marks(text))) == (thinking._BRACKETS.search(text) is not None)


@given(
    texts(
        "*", "**", "~~", "_", "#", "> ", "\\(", "\\text{", "{", "}", "$", "\u2713", "\ufe0f", "a", "B", " ", "\n", "("
    )
)
def test_texts_without_a_sign_of_markdown_have_none(text: str) -> None:
    assert normalization._MARKS.search(text) or normalization._MARKDOWN.sub("", text) == text
    assert normalization._MARKS.search(text) or normalization._LATEX_TEXT.sub(r"\1", text) == text


@given(texts("A", "b", "1", ",", ":", "?", " ", "\n"))
def test_borders_of_scripts_are_in_no_ascii_text(text: str) -> None:
    assert normalization._BORDERS.sub(" ", text) == text
