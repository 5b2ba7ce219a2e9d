"""The browser of all attempts in a real browser: filters, search, details, links, keyboard, hostile texts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.attempts import Grade, GradedAttempt
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.results import RunResult, RunResults
from pytest_fairness.report.html.attempts import link_to, pack_attempts
from tests.helpers.attempts_page import attempt, many_samples, sample, write_page

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from pytest_fairness.store.samples import StoredSample
    from tests.report.conftest import OpenPage

Show = Callable[..., "Page"]


@pytest.fixture
def show(tmp_path: Path, open_page: OpenPage) -> Show:
    """Return a function that opens the section with these samples, once all its texts are loaded."""

    def show(*samples: StoredSample, hash: str = "", **settings: Any) -> Page:
        path = write_page(
            tmp_path / "attempts.html", pack_attempts(samples, RunResults(run=RunResult(id="a", started="b")))
        )
        page = open_page(path, hash, **settings)
        page.wait_for_selector("#attempts[data-state=ready]")
        return page

    return show


def two_models() -> list[StoredSample]:
    """Return twelve attempts: two models, two items, one prompt for each gender, and a grade of a judge."""
    samples = []
    for model, words in (("m:one", "yes indeed"), ("m:two", "no never")):
        attempts: list[GradedAttempt] = []
        for item in ("nurse", "nurse 2", "pilot"):
            for gender in ("female", "male"):
                prompt = Prompt(f"Should the {gender} {item} advance?", {"gender": gender})
                refused = gender == "male" and item == "pilot"
                grades = {
                    "advance": Grade.none("refusal", "It declined.") if refused else Grade(int(words[0] == "y")),
                    "tone": Grade(0.5, detail="The judge finds it curt."),
                }
                attempts.append(attempt(f"{words}, {item}", item=item, prompt=prompt, grades=grades))
        samples.append(sample(attempts, model=model))
    return samples


def test_page_without_scripts_has_one_status(tmp_path: Path, open_page: OpenPage) -> None:
    packed = pack_attempts(two_models(), RunResults(run=RunResult(id="a", started="b")))
    page = open_page(write_page(tmp_path / "attempts.html", packed), java_script_enabled=False)
    message = "The attempts are shown by a script, and this browser runs none here."
    assert page.locator("#attempts .attempts-status").inner_text() == message
    assert page.get_by_text("being unpacked").count() == 0


def status(page: Page) -> str:
    """Return the status line of the list, once all changes are shown."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.locator("#attempts-status").inner_text()


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id || document.activeElement.textContent"))


def test_each_filter_counts_the_remaining_attempts(show: Show) -> None:
    page = show(*two_models())
    assert status(page) == "12 of 12 attempts match; 1 to 12 are shown."
    for label, chosen, left in (
        ("Model", "m:one", 6),
        ("Group: gender", "male", 6),
        ("Grade: advance", "0", 5),
        ("Grade: advance", "ungraded: refusal", 2),
        ("Grade: advance", "ungraded", 2),
    ):
        page.get_by_label(label, exact=True).select_option(label=chosen)
        assert status(page).startswith(f"{left} of 12 ")
        assert page.locator("#attempts-list details").count() == left
        page.get_by_role("button", name="Clear the filters").click()
        assert status(page).startswith("12 of 12 ")


def test_filters_and_search_narrow_together(show: Show) -> None:
    page = show(*two_models())
    page.get_by_label("Model").select_option("m:two")
    page.get_by_label("Group: gender").select_option("female")
    page.get_by_label("Search").fill("PILOT")
    assert status(page) == "1 of 12 attempts match; 1 to 1 are shown."
    assert "no never, pilot" in page.locator("#attempts-list").inner_text()
    page.get_by_label("Search").fill("helicopter")
    assert status(page) == "None of 12 attempts matches."


def test_search_matches_all_words_in_prompts_answers_and_graders(show: Show) -> None:
    page = show(*two_models())
    for search, left in (
        ("indeed", 6),
        ("never PILOT", 2),
        ("female yes", 3),
        ("declined", 2),
        ("curt judge", 12),
        ("m:one", 0),
        ("(.*", 0),
    ):
        page.get_by_label("Search").fill(search)
        assert status(page).startswith(f"{left} of 12 " if left else "None of 12 "), search


def test_item_filter_matches_a_part_or_a_quoted_id(show: Show) -> None:
    page = show(*two_models())
    page.get_by_label("Item").fill("nurse")
    assert status(page).startswith("8 of 12 ")
    page.get_by_label("Item").fill('"nurse"')
    assert status(page).startswith("4 of 12 ")


def test_grades_with_many_numbers_are_filtered_by_quartile(show: Show) -> None:
    attempts = [attempt(f"a{number}", grades={"score": Grade(number / 100)}, item=f"{number}") for number in range(100)]
    page = show(sample(attempts))
    options = page.get_by_label("Grade: score").locator("option").all_inner_texts()
    assert options == ["all", "0 to 0.25", "0.25 to 0.5", "0.5 to 0.74", "0.74 to 0.99"]
    page.get_by_label("Grade: score").select_option(index=1)
    assert status(page).startswith("26 of 100 ")


def test_filters_without_attempts_in_the_suite_are_hidden(show: Show) -> None:
    tones = [
        attempt("a", prompt=Prompt("a", {"origin": origin}), item=origin, grades={"tone": Grade(origin)})
        for origin in ("north", "south")
    ]
    page = show(*two_models(), sample(tones, probe="suites/tone/test_tone.py::test_tone"))
    page.get_by_label("Group: origin").select_option("north")
    assert status(page).startswith("1 of 14 ")
    page.get_by_label("Suite").select_option("hiring")
    page.get_by_label("Group: origin").wait_for(state="hidden")
    assert status(page).startswith("12 of 14 ")


def test_attempt_opens_with_its_whole_conversation(show: Show) -> None:
    prompt = Prompt(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "First line\nsecond line"},
            {"role": "assistant", "content": "Go on."},
        ],
        {"gender": "female", "origin": "north"},
    )
    one = attempt(
        "Yes,\nshe fits.",
        prompt=prompt,
        repetition=2,
        reasoning="Weighing it.",
        finish_reason="length",
        latency=1.234,
        served_by="one-2026",
        grades={"advance": Grade(1, detail="The judge says yes."), "tone": Grade.none("unparsed", "No tone found.")},
    )
    page = show(sample([one, attempt(None, prompt=prompt, repetition=3, error="timed out after 60 s", grades={})]))
    page.locator("summary").first.click()
    page.wait_for_selector(".attempts-open")
    text = page.locator(".attempts-open").inner_text()
    for words in (
        "Message of the system\nBe brief.", "First line\nsecond line", "Message of the assistant\nGo on.",
        "Answer\nYes,\nshe fits.", "Reasoning\nWeighing it.", "Grade advance: 1\nThe judge says yes.",
        "Grade tone: ungraded: unparsed\nNo tone found.", "gender\nfemale", "origin\nnorth", "Repetition\n2",
        "Finish reason\nlength", "Latency\n1.23 s", "Served by\none-2026", "From\nasked in this run",
    ):  # fmt: skip
        assert words in re.sub(r"\n+", "\n", text)
    page.locator("summary").nth(1).click()
    page.wait_for_selector("#attempt-1 .attempts-open")
    assert "Error\ntimed out after 60 s" in page.locator("#attempt-1 .attempts-open").inner_text()


def test_link_shows_one_item_and_the_address_keeps_filters(show: Show) -> None:
    page = show(*two_models(), hash=link_to(item="nurse", model="m:two"))
    assert status(page).startswith("2 of 12 ")
    page.get_by_label("Group: gender").select_option("male")
    assert status(page).startswith("1 of 12 ")
    address = page.evaluate("location.hash")
    assert "group.gender=male" in address
    page.evaluate(f"location.hash = {json.dumps(link_to(item='pilot'))}")
    assert status(page).startswith("4 of 12 ")
    page.evaluate(f"location.hash = {json.dumps(address)}")
    assert status(page).startswith("1 of 12 ")


def test_link_to_an_attempt_opens_it_on_its_page(show: Show) -> None:
    page = show(*many_samples(120), hash="#attempts?attempt=77")
    assert page.wait_for_selector("#attempt-77[open] .attempts-open")
    assert status(page) == "120 of 120 attempts match; 51 to 100 are shown."
    assert page.evaluate("document.activeElement.parentElement.id") == "attempt-77"
    page.evaluate("location.hash = '#attempts?attempt=999'")
    assert status(page) == "120 of 120 attempts match; 1 to 50 are shown."


def test_page_buttons_keep_the_focus(show: Show) -> None:
    page = show(*many_samples(120))
    page.get_by_role("button", name="Next").last.click()
    assert status(page).endswith("51 to 100 are shown.")
    assert focused(page) == "Next"
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert status(page).endswith("101 to 120 are shown.")
    assert focused(page) == "Next"
    page.get_by_role("button", name="Previous").first.click()
    assert status(page).endswith("51 to 100 are shown.")


def test_keyboard_alone_is_enough(show: Show) -> None:
    page = show(*two_models())

    def tab_to(wanted: str) -> None:
        for _ in range(40):
            page.keyboard.press("Tab")
            if page.evaluate("(wanted) => document.activeElement.matches(wanted)", wanted):
                return
        pytest.fail(f"no Tab leads to {wanted}")

    tab_to("#attempts-search")
    page.keyboard.type("never")
    assert status(page).startswith("6 of 12 ")
    assert focused(page) == "attempts-search"
    tab_to("#attempts-item")
    tab_to("select")
    tab_to("summary")
    page.keyboard.press("Enter")
    page.wait_for_selector(".attempts-open")
    tab_to(".attempts-ways button")
    page.keyboard.press("Enter")
    assert status(page).startswith("2 of 12 ")
    assert focused(page) == "attempts-item"


HOSTILE = (
    "<script>document.title = 'run'</script>",
    "</script><img src=x onerror=\"document.title = 'run'\">",
    "{{ 7 * 7 }}{% raw %}<!--",
    "\u202eevil\u2066\x00\x1b[31m\x07",
    "' \" > ]]> \\u003c & &amp; $& %s",
)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_texts_are_shown_and_never_run(show: Show, hostile: str) -> None:
    prompt = Prompt([{"role": "user", "content": hostile}], {hostile: hostile})
    one = attempt(
        hostile, item=hostile, prompt=prompt, reasoning=hostile, served_by=hostile, finish_reason=hostile,
        grades={hostile: Grade(hostile, detail=hostile), "g": Grade.none("error", hostile)},
    )  # fmt: skip
    other = attempt(None, item="b", prompt=Prompt("b", {hostile: "b"}), error=hostile, grades={hostile: Grade("b")})
    page = show(sample([one, other], model=hostile))
    for summary in page.locator("summary").all():
        summary.click()
    page.wait_for_selector("#attempt-1 .attempts-open")
    page.get_by_role("button", name="Show all of this item").first.click()
    assert status(page).startswith("1 of 2 ")
    page.reload()
    page.wait_for_selector("#attempts[data-state=ready]")
    assert status(page).startswith("1 of 2 ")
    assert page.title() == "Attempts"
    assert page.locator("#attempts script, #attempts img").count() == 0
    text = page.locator("#attempts").inner_text()
    assert not re.search("[\u202e\u2066\x00\x1b\x07]", text)
    if "<" in hostile:
        assert hostile in text


@pytest.mark.slow
def test_answer_of_a_megabyte_opens_in_parts(show: Show) -> None:
    page = show(sample([attempt("long " * 200_000)]))
    page.locator("summary").click()
    rest = page.get_by_role("button", name="Show 980,000 more characters")
    rest.wait_for()
    answer = page.locator(".attempts-open pre").nth(1)
    assert answer.evaluate("(pre) => [pre.textContent.length, pre.clientHeight < 800]") == [20_000, True]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    rest.click()
    assert answer.evaluate("(pre) => [pre.textContent.length, pre === document.activeElement]") == [1_000_000, True]


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_axe_finds_no_serious_violation(show: Show, width: int, scheme: str) -> None:
    axe = find_spec("axe_playwright_python")
    assert axe is not None
    assert axe.origin is not None
    page = show(
        *two_models(), sample([attempt("x" * 30_000, item="long")]),
        bypass_csp=True, color_scheme=scheme, viewport={"width": width, "height": 900},
    )  # fmt: skip
    for position in (0, -1):
        page.locator("summary").nth(position).click()
    page.wait_for_selector("#attempt-12 .attempts-open")
    page.add_script_tag(path=Path(axe.origin).with_name("axe.min.js"))
    violations = page.evaluate("async () => (await axe.run()).violations.map((v) => [v.impact, v.id, v.nodes[0].html])")
    assert [violation for violation in violations if violation[0] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_print_names_where_the_attempts_are(show: Show) -> None:
    page = show(*two_models())
    page.emulate_media(media="print")
    assert page.locator("#attempts").inner_text().split("\n")[-1] == (
        "12 attempts can be searched and opened in the HTML file of this report."
    )


def test_empty_report_shows_no_attempts(show: Show) -> None:
    assert status(show()) == "None of 0 attempts matches."
