"""Size of the report's page with many attempts, and its speed in a browser.

    pip install playwright
    apt-get install chromium
    python -m tests.benchmarks.report

A small suite is judged by pytest; then its report is written with as many attempts as asked
for: two models, four groups, three repetitions, prompts of 400 characters and answers of 50
to 2,500, all different. Chromium opens the page from disk. A filter and a search are timed
from the event to the picture after it. A page must stay under its size, show its first
content within 1 s and filter within 200 ms (the median of 10): else it ends with 1.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_fairness.report.html.page import write_page
from pytest_fairness.report.load_run import read_view
from pytest_fairness.report.view import View
from pytest_fairness.store.store import Store
from tests.helpers.attempts_page import many_samples
from tests.helpers.finished_run import MODELS, run, with_models, write_suite

if TYPE_CHECKING:
    from playwright.sync_api import Page

LARGEST = {2_000: 1_500_000, 60_000: 15_000_000}
"""Bytes of a page, by its attempts."""
SLOWEST_CONTENT = 1_000
SLOWEST_FILTER = 200
"""Milliseconds."""

CHANGE = """
([label, value]) => new Promise((done) => {
  const title = [...document.querySelectorAll('#attempts label')].find((each) => each.textContent === label);
  const begun = performance.now();
  title.control.value = value;
  title.control.dispatchEvent(new Event('input', { bubbles: true }));
  requestAnimationFrame(() => {  // after the frame in which the list changes: its own call is asked for before
    const painted = new MessageChannel();
    painted.port1.onmessage = () => done(performance.now() - begun);
    painted.port2.postMessage(0);
  });
})
"""
LONG_TASKS = """
window.longest = 0;
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration);
}).observe({ type: 'longtask', buffered: true });
"""


def judged(folder: Path) -> View:
    """Return the view of a small run."""
    finished = run(write_suite(folder), *with_models(*MODELS))
    store = Store(folder / ".fairness" / "store.sqlite")
    try:
        return read_view(store, finished.results["run"]["id"], str)
    finally:
        store.close()


def changed(page: Page, label: str, values: Sequence[str]) -> tuple[float, float]:
    """Return median and maximum of the milliseconds that a control of this label takes to show each value."""
    times = [page.evaluate(CHANGE, [label, value]) for value in values]
    return statistics.median(times), max(times)


def measure(view: View, attempts: int, folder: Path) -> bool:
    """Print the cost of a page with so many attempts, and return whether it is within all bounds."""
    from playwright.sync_api import sync_playwright

    view = replace(view, samples=many_samples(attempts))
    path = folder / f"{attempts}.html"
    begun = time.perf_counter()
    write_page(path, view)
    writing = time.perf_counter() - begun
    size = path.stat().st_size
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.add_init_script(LONG_TASKS)
        begun = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector("#attempts[data-state=ready]", timeout=120_000)
        ready = time.perf_counter() - begun
        content: float = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        longest: float = page.evaluate("window.longest")
        page.wait_for_timeout(500)
        filtered = changed(page, "Group: gender", ["female", "male", "", "female", ""] * 2)
        words = ("c", "candidate", "candidate because", "hospital", "no such word", "the", "reject", "team", "her", "")
        searched = changed(page, "Search", words)
        browser.close()
    print(f"{attempts:,} attempts")
    print(f"  size            {size / 1e6:8.2f} MB (at most {LARGEST.get(attempts, 0) / 1e6:g})")
    print(f"  written in      {writing:8.1f} s")
    print(f"  first content   {content:8.0f} ms (at most {SLOWEST_CONTENT})")
    print(f"  texts unpacked  {ready * 1000:8.0f} ms, no task longer than {longest:.0f} ms")
    print(f"  a filter        {filtered[0]:8.0f} ms (at most {SLOWEST_FILTER}), at worst {filtered[1]:.0f}")
    print(f"  a search        {searched[0]:8.0f} ms, at worst {searched[1]:.0f}")
    small = size <= LARGEST.get(attempts, size)
    return small and content <= SLOWEST_CONTENT and filtered[0] <= SLOWEST_FILTER


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attempts", type=int, nargs="*", default=list(LARGEST))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        view = judged(Path(folder))
        results = [measure(view, attempts, Path(folder)) for attempts in arguments.attempts]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
