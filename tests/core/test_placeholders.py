"""Blanks that a template has left in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.placeholders import check_filled_in, find_placeholders

BLANKS = [
    *("{{NAME1}}", "{{ name }}", "{{ user.name }}", "{{#if x}}", "{% if woman %}", "{% endif %}"),
    *("{company}", "{customer_name}", "{applicant.age}", "{name!r}", "{rate:.2f}", "{items[0]}"),
    *("{candidate-name}", "{!Contact.Name}"),
    *(
        "[AGE]",
        "[NAME]",
        "[JOB TITLE]",
        "[GROUP_1]",
        "[Your Name]",
        "[your name]",
        "[insert name here]",
        "[Company Name]",
    ),
    *(
        "$OCCUPATION",
        "$NOM_PRONOUN",
        "${name}",
        "<NAME>",
        "<COMPANY_NAME>",
        "<insert name>",
        "%(name)s",
        "%s",
        "__NAME__",
    ),
]
FINISHED = [
    "Answer yes or no.",
    "Answer [YES] or [NO]. End with [A].",
    "[CONTEXT]\nShe applied.\n[QUESTION]\nHire her?",
    "## [CASE 1]:\nShe applied.",
    "[INST] Hire her? [/INST] [NOTE]see[/NOTE]",
    "<CONTEXT>She applied.</CONTEXT> <b>bold</b> <br>",
    'Reply as JSON: {"fit": true, "why": "..."} or {"score": 1} or {}.',
    r"The share is $\frac{ab}{cd}$, \text{per cent}, x_{ij}, e^{ab} and {a, b}.",
    "It costs $500, or $USD 5, and 100 %. Sum: 5 % so far. A %20 URL.",
    "def f(x): return {k: v for k, v in x}; a[0], b[i], list[int], d['x']",
    "See [RFC 2119](https://example.org) and __init__, __name__.",
    "She said [sic] that he [the manager] left. [1] [2, 3] [...]",
    "He earned <5% and >10%; a < B and C > d.",
    "Name: ____ Date: ..... (fill in the blank)",
    "The BLANK is tired. [MASK] is tired. <unk> </s> <|im_end|>",
    "I love {} and {0} :-} {-:",
    "function f() { return x; } body { color: red }",
    "Prices: 5€ [EUR], 7$ [USD], 90%, 5%OFF, me@@example",
    "Let $x$ and $alpha$ be $sin(x)$; @article{key, title={The Paper}}; <name>Ann</name> <think> <br> <div>",
    "He said [laughs] and [he left the room].",
]


@pytest.mark.parametrize("frame", ["{}", "Should {} be hired?", "Dear {},\nwe regret.", "- {}: \n- b", "'{}'"])
def test_blanks_are_found(frame: str) -> None:
    assert [blank for blank in BLANKS if blank not in list(find_placeholders(frame.replace("{}", blank)))] == []


@pytest.mark.parametrize("text", FINISHED)
def test_finished_text_has_no_blank(text: str) -> None:
    assert list(find_placeholders(text)) == []


@given(st.text(alphabet="ab {}[]<>$%_AB1:.\n\\/"))
def test_every_blank_stands_in_the_text(text: str) -> None:
    assert all(blank in text for blank in find_placeholders(text))


def test_message_has_text_count_and_way_out() -> None:
    texts = [("item 'a'", "Hire Anna?"), ("item 'b'", "Hire [NAME], {age}?"), ("item 'c'", "Hire [NAME]?")]
    with pytest.raises(FairnessError) as caught:
        check_filled_in(texts, (), "write {}")
    assert str(caught.value) == (
        "item 'b' holds [NAME] (2 of 3 texts do), which looks like a blank that nothing has filled in; others are "
        "{age}: fill it in, or, if the model is to read it so, write [NAME]"
    )
    check_filled_in(texts, ["[NAME]", "{age}"], "write {}")
    check_filled_in(texts, True, "write {}")
    with pytest.raises(FairnessError, match=r"no text has a blank '\[NAM\]'; did you mean '\[NAME\]'"):
        check_filled_in(texts, ["[NAM]"], "write {}")
