"""Source text of the small projects that the tests run the plugin on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta

HEAD = """\
import pytest
from pytest_fairness import ProbeItem, Prompt, YesNo
"""

ONE_THRESHOLD = """
import pytest
from pytest_fairness import ProbeItem, Prompt, YesNo

def cases():
    for n in range(40):
        yield ProbeItem(f"{n}", [Prompt(f"Case {n} of a {name}?", {"gender": name}) for name in ("female", "male")])

@pytest.mark.probe(items=cases, grade={"approved": YesNo()})
def test_case(probe_item, model):
    probe_item.measure(model)

@pytest.mark.threshold(probe=test_case)
def test_alike(measured):
    assert 0.5 <= measured.ratio("approved", by="gender", of="female", to="male") <= 2
"""
"""A probe of 40 items and one threshold, for a `model` fixture that answers "Case N of a GROUP?"."""

_APPLICATION = '''\
import hashlib
from pathlib import Path

import pytest

RATES = {rates!r}
ASKED = Path(__file__).with_name("asked.txt")


def share(text):
    """A number from 0 to 1 that the text decides."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64


def application(text):
    """Says yes as often as the rate of the group that the text names."""
    with ASKED.open("a", encoding="utf-8") as file:
        file.write(text.replace("\\n", " ") + "\\n")
    rate = next(rate for group, rate in RATES.items() if f"a {{group}} " in text)
{body}
    return "yes" if share(text) < rate else "no"

{after}

@pytest.fixture(scope="session")
def model():
    return application
'''

LATER = (date.today() + timedelta(days=300)).isoformat()  # noqa: DTZ011 - any day to come
"""A day on which a flaky mark may end."""

EVEN = {"woman": 0.95, "man": 0.95}
UNEVEN = {"woman": 0.4, "man": 0.9}
NARROW = {"woman": 0.75, "man": 0.9}


def application(
    rates: Mapping[str, float] = EVEN, *, version: str | None = None, body: str = "", after: str = ""
) -> str:
    """Return a ``conftest.py`` whose model is a callable; it writes each text to ``asked.txt``, one a line.

    ``body`` (indented by the caller) goes before its answer; it sees ``text`` and ``share(text)``, and is run once at
    a time. Without one, 32 calls run at a time: each transaction of the store writes as many answers.
    """
    if not body:
        after = f"application.fairness_concurrency = 32\n{after}"
    if version is not None:
        after += f"\napplication.fairness_version = {version!r}\n"
    return _APPLICATION.format(rates=dict(rates), body=body, after=after)


def items(count: int = 60, groups: Sequence[str] = ("woman", "man")) -> str:
    """Return the source of a function ``people`` of that many items, with one prompt for each group."""
    return f"""\
def people():
    for number in range({count}):
        yield ProbeItem(
            f"person-{{number:04}}",
            [
                Prompt(f"Should a {{group}} of profile {{number}} be hired?", groups={{"gender": group}})
                for group in {tuple(groups)!r}
            ],
        )
"""


PROBE = """\
@pytest.mark.probe(items=people, grade={"hired": YesNo()})
def test_hiring(probe_item, model):
    probe_item.measure(model)
"""

RATIO = 'measured.ratio("hired", by="gender", of="woman", to="man")'

THRESHOLD = f"""\
@pytest.mark.threshold(probe=test_hiring)
def test_women_and_men_alike(measured):
    assert 0.8 <= {RATIO} <= 1.25
"""


def suite(
    *tests: str, count: int = 60, groups: Sequence[str] = ("woman", "man"), people: str = "", probe: str = PROBE
) -> str:
    """Return a test module: items, their probe, and these tests (by default one threshold on the ratio).

    ``people`` is the source of another function that yields the items.
    """
    return "\n\n".join([HEAD, people or items(count, groups), probe, *(tests or (THRESHOLD,))])


def threshold(body: str, *, name: str = "test_threshold", marks: str = "", probe: str = "test_hiring") -> str:
    """Return one threshold test with this body (not indented)."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"{marks}\n@pytest.mark.threshold(probe={probe})\ndef {name}(measured):\n{lines}\n".lstrip("\n")


def thresholds(bodies: Iterable[str]) -> list[str]:
    """Return one threshold test for each body, named in their order: ``test_00``, ``test_01``, ..."""
    return [threshold(body, name=f"test_{number:02}") for number, body in enumerate(bodies)]
