"""The prompts of suites in each variant, and the confounds of their designs: ``pytest-fairness vary`` and ``lint``."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.core.data_folders import DataFolders
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.formatting import counted, one_line
from pytest_fairness.core.items import ProbeItem, Prompt
from pytest_fairness.counterfactual.confounds import Confound, find_confounds
from pytest_fairness.counterfactual.perceived_names import PerceivedNames
from pytest_fairness.plugin.config.invocation import run_pytest
from pytest_fairness.plugin.probes.probe import Probe, make_data_folders
from pytest_fairness.plugin.session.session import SESSION

SHOWN_ITEMS = 2
SHOWN_VARIANTS = 8
"""The most variants of an item that are shown; a file gets all."""
LONGEST = 400
"""The most characters of a prompt that are shown."""


@dataclass(frozen=True, slots=True)
class ProbeLint:
    """Findings of the lint in one probe."""

    probe: str
    error: str | None
    """The reason why its items could not be built."""
    confounds: list[Confound]

    @property
    def is_clean(self) -> bool:
        return self.error is None and not self.confounds

    def lines(self) -> Iterator[str]:
        """Yield a line on the probe, and one on each confound."""
        if self.error is not None:
            yield self.error
            return
        yield f"{self.probe}: {counted(len(self.confounds), 'confound') if self.confounds else 'no confound was found'}"
        yield from (f"  {confound.kind}: {confound.text}" for confound in self.confounds)


@dataclass(slots=True, eq=False)
class SuiteVariants:
    """The probes of files or folders, as a collection of pytest finds them."""

    probes: list[Probe] = field(default_factory=list)
    data: DataFolders = field(default_factory=lambda: DataFolders({}))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Keep the probes of the collected tests."""
        fairness = session.config.stash.get(SESSION, None)  # missing where no test is of this plugin
        if fairness is not None:
            self.probes = fairness.probes.built
            self.data = make_data_folders(fairness.settings)

    def lines(self) -> Iterator[str]:
        """Yield the lines on each probe: its size, a few prompts in each variant, and what they are confounded with."""
        for probe in self.probes:
            yield from _probe_lines(probe)

    def lint(self) -> Iterator[ProbeLint]:
        """Yield the findings of the lint in each probe.

        Raises:
            FairnessError: The folder of perceived names cannot be read.
        """
        folder = self.data.folder("names")
        perceived = None if folder is None else PerceivedNames.read(folder)
        for probe in self.probes:
            confounds = find_confounds(probe.designed_items)
            if perceived is not None:
                confounds += perceived.confounds(probe.designed_items)
            yield ProbeLint(probe.id, probe.error, confounds)

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
