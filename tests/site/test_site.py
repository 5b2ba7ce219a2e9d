"""The documentation site: every public name is on it, and its pages serve everybody and work without network."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from pytest_fairness import __version__
from pytest_fairness.cli.main import main
from pytest_fairness.plugin.own_tests import MARKS
from tests.helpers.accessibility import check_accessibility
from tests.report import conftest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SECTIONS = ("tutorials", "guides", "reference", "explanation")
MODULES = ["pytest_fairness"] + [
    f"pytest_fairness.{name}"
    for name in (
        *("graders", "counterfactual", "tables", "extending", "design", "search"),
        *("harnesses.inspect_ai", "harnesses.lm_eval", "harnesses.genderbench"),
    )
]
browser = conftest.browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a built site, every link and reference of which was checked."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--quiet", "-c", "docs"]
    command += ["-d", str(folder / "doctrees"), ".", str(folder / "site" / __version__)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (result.returncode, result.stderr) == (0, "")
    return folder / "site"


@pytest.fixture(scope="module")
def entries(site: Path) -> set[str]:
    """Return the names of Python that have an entry: in a public module, or where a constant or module is defined."""
    from sphinx.util.inventory import InventoryFile

    inventory = InventoryFile.loads((site / __version__ / "objects.inv").read_bytes(), uri="")
    entries = {name for kind, named in inventory.data.items() if kind.startswith("py:") for name in named}
    return entries | {name.rpartition(".")[2] for name in inventory.data["py:data"]}


@pytest.mark.slow
def test_public_names_have_entries(entries: set[str]) -> None:
    def has_entry(name: str, value: object) -> bool:
        if isinstance(value, ModuleType):
            return value.__name__ in entries
        return name in entries or any(f"{module}.{name}" in entries for module in MODULES)

    public = {(module, name) for module in MODULES for name in import_module(module).__all__}
    assert len(public) > 200
    assert [one for one in sorted(public) if not has_entry(one[1], getattr(import_module(one[0]), one[1]))] == []
    # What the suites import of published records is public too.
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "suites").rglob("*.py"))
    modules = set(re.findall(r"^from (pytest_fairness\.records\.\S+) import", text, re.MULTILINE))
    assert modules
    assert modules - entries == set()


@pytest.mark.slow
def test_pages_lead_to_each_other_without_network(site: Path) -> None:
    version = site / __version__
    assert json.loads((site / "versions.json").read_text(encoding="utf-8")) == [
        {"version": __version__, "url": f"/{__version__}/"}
    ]
    assert f'href="{__version__}/docs/index.html"' in (site / "index.html").read_text(encoding="utf-8")
    loaded = re.compile(r"""(?:<script[^>]* src|<link[^>]* href|<img[^>]* src)="(https?:[^"]*)""")
    assert {path.name: loaded.findall(path.read_text(encoding="utf-8")) for path in version.rglob("*.html")} == {
        path.name: [] for path in version.rglob("*.html")
    }
    pages = re.findall(r"^- \[.+\]\((.+?)\): .", (version / "llms.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert "_sources/docs/first-verdict.md.txt" in pages
    assert [page for page in pages if not (version / page).is_file()] == []
    assert "class Measured(" in (version / "llms-full.txt").read_text(encoding="utf-8")


@pytest.mark.slow
def test_pages_serve_everybody(site: Path, browser: Browser) -> None:
    page = browser.new_context(bypass_csp=True, reduced_motion="reduce").new_page()
    for name in ("docs/index", "docs/reference", "docs/api/tables", "docs/verdicts"):
        page.goto((site / __version__ / f"{name}.html").as_uri())
        check_accessibility(page, reload=True)
    wrong: list[str] = []
    page.on("console", lambda message: wrong.append(message.text) if message.type in ("error", "warning") else None)
    page.on("request", lambda sent: None if sent.url.startswith("file:") else wrong.append(sent.url))
    page.set_viewport_size({"width": 1440, "height": 900})
    page.reload()
    page.keyboard.press("Control+k")
    page.keyboard.type("odds_ratio")
    page.wait_for_selector("#search-results a[href*='Measured.odds_ratio']")
    assert wrong == []


def test_every_page_stands_in_one_section() -> None:
    listed = [
        page
        for section in SECTIONS
        for block in re.findall(r"^```{toctree}\n(.*?)^```$", (DOCS / f"{section}.md").read_text("utf-8"), re.M | re.S)
        for page in re.findall(r"^(?:.* <)?([\w/.-]+?)>?$", block, re.MULTILINE)
    ]
    pages = [*ROOT.glob("*.md"), *DOCS.glob("*.md"), *DOCS.glob("api/*.md"), *ROOT.glob("[sf]*/*/README.md")]
    expected = {page.resolve() for page in pages} - {DOCS / f"{name}.md" for name in ("index", *SECTIONS)}
    missing = expected - {(DOCS / f"{page}.md").resolve() for page in listed}
    assert missing == set(), "write the page into a toctree of docs/guides.md or another section"
    assert [page for page in listed if not (DOCS / f"{page}.md").is_file()] == []
    assert len(listed) == len(set(listed))


def test_marks_and_fixtures_have_entries(pytestconfig: pytest.Config) -> None:
    page = (DOCS / "api" / "pytest.md").read_text(encoding="utf-8")
    for mark in MARKS:
        name, arguments = mark.partition(")")[0].split("(", 1)
        table = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        wanted = re.findall(r"(?:^|, )(\w+)", re.sub(r"{.*?}|\(.*?\)|'.*?'", "", arguments))
        assert wanted
        assert [argument for argument in wanted if f"| `{argument}` |" not in table] == []


def test_commands_have_entries(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = re.findall(r"^    (\w+)  ", capsys.readouterr().out, re.MULTILINE)
    assert len(commands) > 10
    page = (DOCS / "commands.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\w+)$", page, re.MULTILINE) == re.findall(r"^```{command} (\w+)$", page, re.M) == commands
