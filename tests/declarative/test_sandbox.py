"""Templates of strangers end soon, with a text that is no longer than it may be, or with one line."""

from __future__ import annotations

import pytest

from pytest_fairness.declarative.items import Template
from pytest_fairness.declarative.source import DeclarationError, LocatedValue

VALUES = {"x": "abc", "xs": ["a", "b"], "d": {"k": "v"}, "y": "z"}
SET = "{% set y = x %}"
LONG = "it makes a text of more than 1,000,000 characters"
HOSTILE = {
    "loop-in-loop": ("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "100,000 turns"),
    "output-of-loop": ("{% for a in range(9999) %}{{ x * 1000 }}{% endfor %}", LONG),
    "repeated": ("{{ x * 1000000000 }}", LONG),
    "repeated-constant": ("{{ 5000000000 * 'x' }}", LONG),
    "joined": (SET + "{% set y = y ~ y %}" * 60 + "{{ y }}", LONG),
    "added": (SET + "{% set y = y + y %}" * 60 + "{{ y }}", LONG),
    "filter-join": (SET + "{% set y = y|list|join(y) %}" * 30, LONG),
    "filter-replace": (SET + "{% set y = y|replace('', y) %}" * 30, LONG),
    "filter-center": ("{{ x|center(1000000000) }}", "it may not use the filter 'center'"),
    "method": ("{{ x.ljust(1000000000) }}", "simple methods of texts and lists only"),
    "format": ("{{ '%1000000000d' % 3 }}", "it may not format by %"),
    "power": ("{{ 10**9**9 }}", "it may not use **"),
    "numbers": ("{{ " + "9999999999 * " * 80 + "9 }}", "a number of more than 77 digits"),
    "macro": ("{% macro a() %}{{ a() }}{{ a() }}{% endmacro %}{{ a() }}", "it may not use macros"),
    "recursive-loop": ("{% for a in xs recursive %}{{ loop(xs) }}{{ loop(xs) }}{% endfor %}", "recursive loops"),
    "block-of-set": ("{% set y %}{{ x }}{% endset %}", "a block of set"),
    "lists": (SET + "{% set y = [y, y] %}" * 60 + "{{ y }}", "may hold texts and numbers only"),
    "mappings": (SET + "{% set y = {'a': y, 'b': y} %}" * 60 + "{{ y }}", "may hold texts and numbers only"),
    "lists-of-loops": ("{% for y in [[y, y]] %}" * 60 + "{{ y }}" + "{% endfor %}" * 60, "texts and numbers only"),
    "list-times": ("{{ xs * 1000000000 }}", "it may not use * on lists"),
    "depth": ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "maximum recursion depth exceeded"),
    "attribute": ("{{ ''.__class__.__mro__ }}", "unsafe"),
}


def rendered(text: str) -> str:
    return Template(LocatedValue("f.probe.yaml", "template", 3, 1, text, text, 3)).render(VALUES, "an item")


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.timeout(30)
def test_hostile_templates_end_in_one_line(name: str) -> None:
    text, message = HOSTILE[name]
    with pytest.raises(DeclarationError) as refused:
        rendered(text)
    assert message in str(refused.value)
    assert str(refused.value).startswith("f.probe.yaml:3:")
    assert "\n" not in str(refused.value)


def test_ordinary_templates_render() -> None:
    text = (
        "{{ x|upper }} {{ x.title() }} {% for a in xs if a != 'z' %}{{ loop.index }}{{ a }}{% if not loop.last %}, "
        "{% endif %}{% endfor %} {{ xs|join(', ') }} {{ d.k }} {{ x ~ '!' ~ 3 }} {{ 3 * 4 + 1 }} {{ '-' * 3 }} "
        "{{ 'a' if x in ['abc', 'd'] else 'b' }} {{ x|replace('a', 'z') }} {% set q = x %}{{ q }}"
        "{% for k, v in d.items() %} {{ k }}={{ v }}{% endfor %} {{ {'z': 'last'}[y] }}"
    )
    assert rendered(text) == "ABC Abc 1a, 2b a, b v abc!3 13 --- a zbc abc k=v last"
