"""A real browser that opens pages from disk and notes everything that a page must not do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

OpenPage = Callable[..., "Page"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Yield Chromium as the system has it, without a window.

    Not for longer than a module: while it is there its event loop runs in this thread, and nobody else's may.
    """
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        message = "no Chromium is installed: apt-get install chromium"
        if "PYTEST_FAIRNESS_NO_SKIP" in os.environ:
            pytest.fail(message)
        pytest.skip(message)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@dataclass
class Pages:
    """Pages of a browser that tests use in turn: a new one takes half a second of CPU."""

    browser: Browser
    _plain: list[Page] = field(default_factory=list)
    """Those without settings, which are used again."""
    _free: list[Page] = field(default_factory=list)
    _files: dict[Page, str] = field(default_factory=dict)
    """The address of the file in each page that the test has opened."""
    _wrong: list[str] = field(default_factory=list)

    def open(self, path: Path, hash: str = "", **settings: Any) -> Page:
        """Open a file in a page that the test has not used, with settings in a new one."""
        page = self._new(settings) if settings or not self._free else self._free.pop()
        self._files[page] = path.as_uri()
        page.goto(path.as_uri() + hash)
        return page

    def leave(self) -> list[str]:
        """Leave the pages that the test has opened, and return what they have done wrong."""
        for page in list(self._files):
            self._files[page] = "about:blank"
            page.goto("about:blank")
            if page in self._plain:
                page.emulate_media(media="null")
                self._free.append(page)
            else:
                page.context.close()
        self._files.clear()
        wrong, self._wrong = self._wrong, []
        return wrong

    def _new(self, settings: dict[str, Any]) -> Page:
        page = self.browser.new_context(**settings).new_page()
        if not settings:
            self._plain.append(page)
        page.on("console", lambda message: self._note(message.text, message.type in ("error", "warning")))
        page.on("pageerror", lambda error: self._note(str(error), True))
        page.on("request", lambda sent: self._note(sent.url, sent.url.partition("#")[0] != self._files.get(page)))
        page.on("dialog", self._refuse)
        return page

    def _refuse(self, dialog: Dialog) -> None:
        self._note(dialog.message, True)
        dialog.dismiss()  # else the page waits for ever

    def _note(self, what: str, is_wrong: bool) -> None:
        if is_wrong:
            self._wrong.append(what)


@pytest.fixture(scope="module")
def pages(browser: Browser) -> Pages:
    """Return the pages of a module."""
    return Pages(browser)


@pytest.fixture
def open_page(pages: Pages) -> Iterator[OpenPage]:
    """Yield a function that opens a file in its own page; assert that none logs, throws or requests anything."""
    yield pages.open
    assert pages.leave() == []
