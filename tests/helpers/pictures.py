"""The pictures of README.md, made from the example report and the terminal output of its run: ``make pictures``."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
REPORT = ROOT / "reports" / "example.html"
LOG = ROOT / ".fairness" / "example.log"
"""The output of the run, with colors, at `COLUMNS` columns; it is not committed."""
COLUMNS = 80
WIDTH = 1200
"""The width of the report's page, in pixels."""
_FORMAT = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {terminal_width} {terminal_height}">
<style>
.{unique_id}-matrix {{ font-family: monospace; font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<rect x="-12" width="100%" height="100%" rx="6" fill="#1a1d21"/>
<defs>{lines}</defs>
{backgrounds}
<g class="{unique_id}-matrix" transform="translate(0, 4)">
{matrix}
</g>
</svg>
"""


def summary_of(log: str) -> str:
    r"""Return the section of the verdicts, and the line that decides.

    >>> summary_of("..F\n= fairness: m =\n fair\n= short test summary info =\nFAILED x\nm: fair\n1 failed\n")
    '= fairness: m =\n fair\nm: fair\n1 failed\n'
    """
    section = log[log.rindex("\n", 0, log.index("= fairness: ")) + 1 :]
    return re.sub(r"(?m)^[^\n]*=+ short test summary info =+[^\n]*\n(?:[^\n]*(?:FAILED|ERROR)[^\n]*\n)*", "", section)


def draw_terminal(log: str, path: Path) -> None:
    """Write the section of the verdicts as a picture."""
    from rich.console import Console
    from rich.text import Text

    with Path("/dev/null").open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=COLUMNS, file=nowhere, force_terminal=True)
        console.print(Text.from_ansi(summary_of(log).rstrip()))
    drawn = console.export_svg(code_format=_FORMAT, unique_id="terminal")
    padded = re.sub(
        r'viewBox="0 0 ([\d.]+) ([\d.]+)"',
        lambda box: f'viewBox="-12 0 {float(box[1]) + 24:g} {float(box[2]) + 12:g}"',
        drawn,
        count=1,
    )
    path.write_text(padded, encoding="utf-8")


def photograph_report(report: Path, path: Path) -> None:
    """Write a picture of the top of a report, down to its first list, in a browser of the system."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": 960}, color_scheme="light")
        page.goto(report.as_uri())
        end = page.locator("ul.open").first.evaluate("list => list.getBoundingClientRect().bottom")
        page.screenshot(path=path, full_page=True, clip={"x": 0, "y": 0, "width": WIDTH, "height": end + 16})
        browser.close()


if __name__ == "__main__":
    draw_terminal(LOG.read_text(encoding="utf-8"), ROOT / "docs" / "terminal.svg")
    photograph_report(REPORT, ROOT / "docs" / "report.png")
