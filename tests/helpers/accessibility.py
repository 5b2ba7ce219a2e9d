"""Accessibility and width of a page, at every size of screen, light and dark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

ALL: dict[str, Any] = {"resultTypes": ["violations"]}
COLORS: dict[str, Any] = ALL | {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
WIDTHS: dict[str, Any] = ALL | {"runOnly": {"type": "rule", "values": ["scrollable-region-focusable"]}}
CHECKS = ((1440, "light", ALL), (768, "light", WIDTHS), (390, "light", ALL), (390, "dark", COLORS))
"""Widths in pixels, schemes, and what axe-core checks: another scheme changes nothing but colors."""


def check_accessibility(page: Page, *, reload: bool = False) -> None:
    """Assert that a page, opened with ``bypass_csp``, has no serious violation and is never wider than the screen."""
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

    for width, scheme, options in CHECKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        if reload:  # a page whose script looks at the width
            page.reload()
        violations = Axe().run(page, options=options).response["violations"]
        serious = [
            (violation["id"], [(node["html"][:200], node["failureSummary"][:300]) for node in violation["nodes"]][:3])
            for violation in violations
            if violation["impact"] in ("serious", "critical")
        ]
        assert serious == [], f"{width} pixels, {scheme}: {serious}"
        assert page.evaluate("document.documentElement.scrollWidth") <= width
