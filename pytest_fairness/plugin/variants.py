"""The prompts of suites in each variant, and the confounds of their designs: ``pytest-fairness vary``."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted, one_line
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.counterfactual.confounds import find_confounds
from pytest_fairness.plugin.invocation import run_pytest
from pytest_fairness.plugin.probe import Probe
from pytest_fairness.plugin.session import SESSION

SHOWN_ITEMS = 2
SHOWN_VARIANTS = 8
"""The most variants of an item that are shown; a file gets all."""
LONGEST = 400
"""The most characters of a prompt that are shown."""


@dataclass(slots=True, eq=False)
class SuiteVariants:
    """The probes of files or folders, as a collection of pytest finds them."""

    probes: list[Probe] = field(default_factory=list)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Keep the probes of the collected tests."""
        fairness = session.config.stash.get(SESSION, None)  # missing where no test is of this plugin
        self.probes = [] if fairness is None else fairness.probes.built

    def lines(self) -> Iterator[str]:
        """Yield the lines on each probe: its size, a few prompts in each variant, and what they are confounded with."""
        for probe in self.probes:
            yield from _probe_lines(probe)

    def records(self) -> Iterator[Mapping[str, Any]]:
        """Yield every prompt of every probe, for a file."""
        for probe in self.probes:
            for item in probe.items:
                for prompt in item.prompts:
                    groups = dict(prompt.groups)
                    yield {"probe": probe.id, "item": item.id, "groups": groups, "text": _text(prompt)}


def read_suite(path: Path) -> SuiteVariants:
    """Return the probes of a suite: a folder, a Python file or a declaration.

    Raises:
        FairnessError: pytest cannot collect it, or it has no probe.
    """
    if not path.exists():
        raise FairnessError(f"{path} cannot be read: there is no such file or folder")
    suite, output = SuiteVariants(), io.StringIO()
    with redirect_stdout(output):
        status = run_pytest("--collect-only", "-q", str(path), plugins=[suite])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        errors = [line for line in output.getvalue().splitlines() if line.startswith(("E  ", "ERROR"))]
        raise FairnessError(f"{path} cannot be collected: {' '.join((errors or ['pytest failed'])[0].split())}")
    if not suite.probes:
        raise FairnessError(f"{path} has no probe: name a suite's folder, a test file, or a file of prompts")
    return suite


def _probe_lines(probe: Probe) -> Iterator[str]:
    if probe.error:
        yield probe.error
        return
    items = probe.items
    prompts = sum(len(item.prompts) for item in items)
    yield f"{probe.id}: {counted(len(items), 'item')}, {counted(prompts, 'prompt')}"
    for item in items[:SHOWN_ITEMS]:
        yield f"  item {item.id}"
        yield from _item_lines(item)
    if len(items) > SHOWN_ITEMS:
        yield f"  ... and {counted(len(items) - SHOWN_ITEMS, 'further item')}"
    if probe.lint is not None:
        yield f"  {probe.lint}"
    confounds = find_confounds(probe.designed_items)
    yield from (f"  confound: {confound.text}" for confound in confounds)
    if not confounds:
        yield "  no confound was found"


def _item_lines(item: ProbeItem) -> Iterator[str]:
    by_variant: dict[str, Prompt] = {}
    for prompt in item.prompts:
        variant = ", ".join(f"{attribute} {group}" for attribute, group in prompt.groups.items())
        by_variant.setdefault(variant, prompt)
    first = next(iter(by_variant.values()))
    for variant, prompt in list(by_variant.items())[:SHOWN_VARIANTS]:
        text = _text(prompt) if prompt is first else format_difference(_text(first), _text(prompt))
        yield f"    {f'{variant}: ' if variant else ''}{one_line(text, LONGEST)}"
    if len(by_variant) > SHOWN_VARIANTS:
        yield f"    ... and {counted(len(by_variant) - SHOWN_VARIANTS, 'further variant')}"


def format_difference(first: str, second: str) -> str:
    """Return the words in which a text differs from another one, those of the other in brackets.

    >>> format_difference("Anna applies. Hire her?", "Ben applies. Hire him?")
    'Ben [Anna] ... him? [her?]'
    """
    before, after = first.split(), second.split()
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    spans = [
        f"{' '.join(after[to:end]) or '-'} [{' '.join(before[start:stop]) or '-'}]"
        for kind, start, stop, to, end in matcher.get_opcodes()
        if kind != "equal"
    ]
    return " ... ".join(spans) or "the same text"


def _text(prompt: Prompt) -> str:
    return "\n".join(message["content"] for message in prompt.messages if isinstance(message["content"], str))
