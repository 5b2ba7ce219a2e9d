"""How far a run is: a live line on a terminal, a line now and then in a log; of all its processes, from the store.

It is shown by the process that has the terminal: alone, whenever a test waits or ends; a controller of workers,
which waits for nothing, from a thread. With ``-q``, or without the terminal plugin, nothing is shown.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.report.sentences import money
from pytest_fairness.session.compat import terminal_file

if TYPE_CHECKING:
    from pytest_fairness.store.ledger import Entry

_LIVE = 1.0
_ON_A_TERMINAL = 10.0
_IN_A_LOG = 60.0
"""Seconds between two looks at the store: for a line that stands, and for one that is added."""
_WINDOW = 60.0
"""Seconds over which the rate is taken."""
_SILENCE = 60.0
"""Seconds without an end of any call after which it is named what is waited for."""


class Progress:
    """Tells how far the answers are.

    ``spent`` reads what was asked; ``calls`` are those of probes that are to be made, where that is known.
    """

    def __init__(self, config: pytest.Config, spent: Callable[[], Sequence[Entry]], calls: int | None) -> None:
        reporter: pytest.TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
        self._reporter = reporter if config.get_verbosity() >= 0 else None
        capturing = config.pluginmanager.get_plugin("capturemanager")
        # A test is waiting: what is written now would be taken for its output, and not shown.
        self._uncaptured = capturing.global_and_fixture_disabled if capturing else nullcontext
        self._spent, self._calls = spent, calls
        is_terminal = getattr(self._reporter, "isatty", False)
        # What a test prints itself would move the cursor: then there is no line that stands.
        self._is_live = is_terminal and config.getoption("capture", default="no") != "no"
        if self._reporter is not None:
            self._terminal, self._file = config.get_terminal_writer(), terminal_file(config)
            self._is_live = self._is_live and self._terminal.hasmarkup and self._file is not None
        self._interval = _LIVE if self._is_live else _ON_A_TERMINAL if is_terminal else _IN_A_LOG
        self._told = time.monotonic()
        self._seen = deque([(self._told, 0)])
        self._ended_at, self._last_ended = self._told, 0
        """When a call was last seen to have ended, and how many had then."""
        self._line = ""
        """What stands below pytest's own lines."""
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def tick(self) -> None:
        """Called while somebody waits; mostly says nothing."""
        with self._lock:
            now = time.monotonic()
            if self._reporter is None or self._ended.is_set() or now - self._told < self._interval:
                return
            self._told = now
            entries = self._spent()
            if entries:
                with self._uncaptured():
                    self._show(list(self._parts(entries, now)))

    def watch(self) -> None:
        """Tell from a thread, until `end`: this process runs no tests."""
        if self._reporter is not None and self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="fairness-progress", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(min(1.0, self._interval)):
            try:
                self.tick()
            except FairnessError:  # the tests of the workers say so
                return

    def end(self) -> None:
        """Say nothing more, and leave no line behind."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        self._clear()
        self._line = ""

    # Hooks: pytest writes where the line stands, which is then put below.

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logstart(self) -> Generator[None, object, object]:
        with self._lock:
            self._clear()
            result = yield
            self._draw()
            return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, object, object]:
        if report.passed and report.when != "call":  # of these pytest writes nothing
            return (yield)
        with self._lock:
            self._clear()
            result = yield
            if self._thread is None:
                self.tick()
            self._draw()
            return result

    def pytest_enter_pdb(self) -> None:
        self._clear()

    # What is shown.

    def _parts(self, entries: Sequence[Entry], now: float) -> Iterator[str]:
        """What there is to say, the most important first."""
        ended = Counter(dict.fromkeys(("probes", "graders"), 0))
        errors: Counter[str] = Counter()
        for entry in entries:
            ended[entry.role] += entry.calls
            errors += entry.errors
        rate = self._rate(now, ended.total())
        if ended.total() != self._last_ended:
            self._ended_at, self._last_ended = now, ended.total()
        if now - self._ended_at >= _SILENCE and (waited_for := [entry for entry in entries if entry.held]):
            models = ", ".join(f"{entry.held:,} of {entry.model.partition('?')[0]}" for entry in waited_for)
            yield f"no call has ended for {_duration(now - self._ended_at)}, waiting for {models}"
        yield f"{ended['probes']:,}{f' of {self._calls:,}' if self._calls else ''} calls"
        if ended["graders"]:
            yield f"{ended['graders']:,} of graders"
        yield f"{rate:,.0f} a second" if rate >= 1 or not rate else f"{rate:.1g} a second"
        left = (self._calls or 0) - ended["probes"]
        if rate and left / rate >= 0.5:
            yield f"about {_duration(left / rate)} left"
        costs = [entry.usd for entry in entries]
        if None not in costs and (spent := sum(cost or 0.0 for cost in costs)):
            yield money(spent)
        if again := sum(entry.requests - entry.calls - entry.held for entry in entries):
            yield f"{again:,} repeated"
        yield from (f"{kind}: {count:,}" for kind, count in errors.most_common())

    def _rate(self, now: float, ended: int) -> float:
        self._seen.append((now, ended))
        while len(self._seen) > 2 and now - self._seen[0][0] > _WINDOW:
            self._seen.popleft()
        since, first = self._seen[0]
        return (ended - first) / (now - since) if now > since else 0.0

    def _show(self, parts: list[str]) -> None:
        assert self._reporter is not None  # noqa: S101 - `tick` has looked
        if not self._is_live:
            self._reporter.ensure_newline()
            self._reporter.write_line(f"fairness: {', '.join(parts)}")
            return
        while len(parts) > 1 and len(f"fairness: {', '.join(parts)}") >= self._terminal.fullwidth:
            parts.pop()
        self._line = f"fairness: {', '.join(parts)}"[: self._terminal.fullwidth - 1]
        self._draw()

    def _draw(self) -> None:
        """Write the line below the one that pytest is at, which may have to be made; and go back to that."""
        if self._line:
            column = self._terminal.width_of_current_line
            back = f"\x1b[{column}C" if column else ""
            self._raw(f"\n\x1b[2K{self._line}\x1b[1A\r{back}")

    def _clear(self) -> None:
        if self._line:
            self._raw("\x1b[J")

    def _raw(self, text: str) -> None:
        # Past the writer's own count of what stands on the line: the cursor comes back.
        if self._file is not None:
            self._file.write(text)
            self._file.flush()


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
