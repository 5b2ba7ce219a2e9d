"""Items and crossed factors of a probe, as its mark declares them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pytest_fairness import Formats, ProbeItem
from pytest_fairness.core.answer_formats import VARIANT
from pytest_fairness.core.controls import read_controls, with_levels
from pytest_fairness.core.tools import read_tools, tools_message


def designed_items(arguments: Mapping[str, Any], **values: Any) -> list[ProbeItem]:
    """Return the items of a probe's arguments, with its controls, tools or formats; ``values`` are those of a run."""
    items = with_levels(arguments["items"](**values), read_controls(arguments.get("control")))
    if "tools" in arguments:
        message = tools_message(read_tools(arguments["tools"]))
        return [
            replace(item, prompts=[replace(prompt, messages=(message, *prompt.messages)) for prompt in item.prompts])
            for item in items
        ]
    return Formats.of(arguments["formats"]).applied_to(items) if "formats" in arguments else items


def crossed_factor(arguments: Mapping[str, Any]) -> str | None:
    crossed: str | None = arguments.get("crossed")
    return VARIANT if crossed is None and "formats" in arguments else crossed
