"""Templates reach nothing but their values, and make the same text each time."""

from __future__ import annotations

import pytest

from pytest_fairness.declarative.items import Template
from pytest_fairness.declarative.source import DeclarationError, LocatedValue

VALUES = {"x": "abc", "xs": ["a", "b"], "d": {"k": "v"}, "y": "z"}
REFUSED = {
    "attribute": ("{{ ''.__class__.__mro__ }}", "unsafe"),
    "change": ("{{ xs.append(3) }}", "of 'list' object is unsafe"),
    "long-loop": ("{% for a in range(9999999) %}{% endfor %}", "Range too big"),
    "file": ("{% include 'conftest.py' %}", "no loader"),
    "depth": ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "maximum recursion depth exceeded"),
    "random-text": ("{{ lipsum() }}", "'lipsum' is undefined"),
    "random-choice": ("{{ xs|random }}", "No filter named 'random'"),
}


def rendered(text: str) -> str:
    return Template(LocatedValue("f.probe.yaml", "template", 3, 1, text, text, 3)).render(VALUES, "an item")


@pytest.mark.parametrize("name", REFUSED)
def test_unsafe_or_random_templates_end_in_one_line(name: str) -> None:
    text, message = REFUSED[name]
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
