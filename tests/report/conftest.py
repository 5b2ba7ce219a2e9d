"""A real browser that opens pages from disk and notes everything that a page must not do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
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


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Yield a function that opens a file in its own page; assert that none logs, throws or requests anything."""
    wrong: list[str] = []
    contexts = []

    def note(what: str, is_wrong: bool) -> None:
        if is_wrong:
            wrong.append(what)

    def refuse(dialog: Dialog) -> None:
        note(dialog.message, True)
        dialog.dismiss()  # else the page waits for ever

    def open_page(path: Path, hash: str = "", **settings: Any) -> Page:
        context = browser.new_context(**settings)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: note(message.text, message.type in ("error", "warning")))
        page.on("pageerror", lambda error: note(str(error), True))
        page.on("request", lambda sent: note(sent.url, sent.url.partition("#")[0] != path.as_uri()))
        page.on("dialog", refuse)
        page.goto(path.as_uri() + hash)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []
