"""Progress of all processes of a run, read from the store: a live line on a terminal, an occasional line in a log.

The process with the terminal writes it: a single process while a test waits or ends, a controller of workers from a
thread. With ``-q``, or without the terminal plugin, nothing is written.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from pytest_fairness.core.clock import Clock
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.plugin.compat import terminal_file
from pytest_fairness.plugin.output.terminal_text import wrap_text
from pytest_fairness.plugin.report_data import FIRST_ANSWERS, read
from pytest_fairness.report.phrases import money

if TYPE_CHECKING:
    from pytest_fairness.store.owners import ForeignOwner
    from pytest_fairness.store.spending import SpendingEntry

_LIVE = 1.0
_ON_A_TERMINAL = 10.0
_IN_A_LOG = 60.0
"""Seconds between two reads of the store: for a live line, and for added lines on a terminal or in a log."""
_WINDOW = 30.0
_ENOUGH = 10
"""The seconds and the completed calls over which the rate is measured: at least both."""
_SILENCE = 60.0
"""The seconds without a completed call after which the line names the models with open calls."""
_FOREIGN_SILENCE = 5.0
"""The same for a run without open calls: the processes that have claimed what it needs may be suspended."""


class Pace:
    """The recent rate of completed calls: not that of the first burst, nor of the wait for the first answer.

    Args:
        start: The time at which the first call may begin.
    """

    def __init__(self, start: float) -> None:
        self._seen = deque([(start, 0)])
        self._first = start, 0
        """The time and the number of completed calls at the first read that had any."""

    def rate(self, now: float, ended: int) -> float:
        """Return the completed calls a second, given all that have ended by now."""
        seen = self._seen
        if ended != seen[-1][1] or not ended:
            seen.append((now, ended))
        while len(seen) > 1 and not seen[0][1] and (ended == 0 or len(seen) > 2):
            seen.popleft()
        while len(seen) > 1 and now - seen[1][0] >= _WINDOW and ended - seen[1][1] >= _ENOUGH:
            seen.popleft()
        if ended and not self._first[1]:
            self._first = now, ended
        since, first = seen[0]
        return (ended - first) / (now - since) if now > since else 0.0

    def time_for(self, left: float, now: float, ended: int) -> float:
        """Return the seconds that so many more calls take, after `rate`; 0 while that is not known.

        A server that has become slower may go on so: a third of that is expected again, and less near the end.
        """
        (since, first), (recent_since, recent_first) = self._first, self._seen[0]
        if not first or ended <= recent_first or ended <= first:  # the first answer may have waited for the server
            return 0.0
        recent = (now - recent_since) / (ended - recent_first)
        slower = max(0.0, recent - (now - since) / (ended - first))
        return left * (recent + slower * min(1.0, left / ended) / 3)


class Progress:
    """Display of the number of completed calls.

    Args:
        config: The configuration of pytest.
        spent: Returns the requests so far.
        foreign_owners: Returns the processes outside of the run that have claimed requests.
        calls: The number of calls of probes in all; None if it is not known.
        show: Returns the shown name of a model, given its key.
    """

    def __init__(
        self,
        config: pytest.Config,
        spent: Callable[[], Sequence[SpendingEntry]],
        foreign_owners: Callable[[], Sequence[ForeignOwner]],
        calls: int | None,
        show: Callable[[str], str] = str,
    ) -> None:
        reporter: pytest.TerminalReporter | None = config.pluginmanager.get_plugin("terminalreporter")
        self._reporter = reporter if config.get_verbosity() >= 0 else None
        capturing = config.pluginmanager.get_plugin("capturemanager")
        # While a test waits, pytest would capture the line as its output.
        self._uncaptured = capturing.global_and_fixture_disabled if capturing else nullcontext
        self._spent, self._foreign_owners, self._calls, self._show_model = spent, foreign_owners, calls, show
        is_terminal = getattr(self._reporter, "isatty", False)
        # Output of a test would move the cursor away from a live line.
        self._is_live = is_terminal and config.getoption("capture", default="no") != "no"
        if self._reporter is not None:
            self._terminal, self._file = config.get_terminal_writer(), terminal_file(config)
            self._is_live = self._is_live and self._terminal.hasmarkup and self._file is not None
        self._interval = _LIVE if self._is_live else _ON_A_TERMINAL if is_terminal else _IN_A_LOG
        self._shown_at = Clock.monotonic()
        self._pace = Pace(self._shown_at)
        self._ended_at, self._last_ended = self._shown_at, 0
        """The time of the last change of the number of completed calls, and that number."""
        self._line = ""
        """The live line, below those of pytest."""
        self._written = set[str]()
        """The causes of which a line was written."""
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def is_shown(self) -> bool:
        """Whether this process writes the display: else its hooks would do nothing at each report."""
        return self._reporter is not None

    def tick(self) -> None:
        """Show the progress, if the last time is long enough ago; called while a test waits."""
        with self._lock:
            now = Clock.monotonic()
            if self._reporter is None or self._ended.is_set() or now - self._shown_at < self._interval:
                return
            self._shown_at = now
            if parts := list(self._parts(self._spent(), now)):
                with self._uncaptured():
                    self._show(parts)

    def watch(self) -> None:
        """Show the progress from a thread until `end`, in a process without tests."""
        if self._reporter is not None and self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="fairness-progress", daemon=True)
            self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(min(1.0, self._interval)):
            try:
                self.tick()
            except FairnessError:  # the workers report it
                return

    def end(self) -> None:
        """Stop the display, and remove the line."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        self._clear()
        self._line = ""

    # Hooks: remove the live line before pytest writes, and draw it again below.

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logstart(self) -> Generator[None, object, object]:
        with self._lock:
            self._clear()
            result = yield
            self._draw()
            return result

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> Generator[None, object, object]:
        if report.passed and report.when != "call":  # pytest writes nothing for these
            return (yield)
        with self._lock:
            self._clear()
            result = yield
            self._write_first_answers(read(report).get(FIRST_ANSWERS, {}))
            if self._thread is None:
                self.tick()
            self._draw()
            return result

    def _write_first_answers(self, lines: Mapping[str, str]) -> None:
        """Write what is wrong with the first answers of probes, each cause once: workers find the same ones."""
        assert self._reporter is not None  # noqa: S101 - else these hooks are not registered
        for cause, line in lines.items():
            if cause not in self._written:
                self._written.add(cause)
                self._reporter.ensure_newline()
                for part in wrap_text(f"fairness: {line}", self._terminal.fullwidth, ""):
                    self._reporter.write_line(part, yellow=True)

    def pytest_enter_pdb(self) -> None:
        self._clear()

    def _parts(self, entries: Sequence[SpendingEntry], now: float) -> Iterator[str]:
        """Yield the parts of the line, the most important first."""
        ended = Counter(dict.fromkeys(("probes", "graders"), 0))
        errors: Counter[str] = Counter()
        for entry in entries:
            ended[entry.role] += entry.calls
            errors += entry.errors
        rate = self._pace.rate(now, ended.total())
        if ended.total() != self._last_ended:
            self._ended_at, self._last_ended = now, ended.total()
        silence = now - self._ended_at
        waited_for = [
            f"{entry.held:,} of {self._show_model(entry.model).partition('?')[0]}" for entry in entries if entry.held
        ]
        if silence >= (_SILENCE if waited_for else _FOREIGN_SILENCE):
            waited_for += map(_owner, self._foreign_owners())
            if waited_for:
                rate = 0.0  # the time that is left is unknown
                yield f"no call has ended for {_duration(silence)}, waiting for {', '.join(waited_for)}"
        if not entries:
            return
        yield f"{ended['probes']:,}{f' of {self._calls:,}' if self._calls else ''} calls"
        if ended["graders"]:
            yield f"{ended['graders']:,} of graders"
        yield format_rate(rate)
        left = calls_left(self._calls, ended["probes"], ended["graders"])
        if rate and (seconds := self._pace.time_for(left, now, ended.total())) >= 0.5:
            yield f"about {_duration(seconds)} left"
        costs = [entry.usd for entry in entries]
        if None not in costs and (spent := sum(cost or 0.0 for cost in costs)):
            yield money(spent)
        if again := sum(entry.requests - entry.calls - entry.held for entry in entries):
            yield f"{again:,} repeated"
        yield from (f"{kind}: {count:,}" for kind, count in errors.most_common())

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
        """Write the live line below the current line of pytest, and move the cursor back."""
        if self._line:
            column = self._terminal.width_of_current_line
            back = f"\x1b[{column}C" if column else ""
            self._raw(f"\n\x1b[2K{self._line}\x1b[1A\r{back}")

    def _clear(self) -> None:
        if self._line:
            self._raw("\x1b[J")

    def _raw(self, text: str) -> None:
        # Not through the writer, which counts the characters on the line: the cursor returns.
        if self._file is not None:
            self._file.write(text)
            self._file.flush()


def _owner(owner: ForeignOwner) -> str:
    """Return the phrase for another process: ``8 of process 4711, which began at 2026-11-26 23:59 UTC``."""
    if owner.since is None:
        return f"{owner.claims:,} of another process"
    since = datetime.fromtimestamp(owner.since, UTC)
    return f"{owner.claims:,} of process {owner.process}, which began at {since:%Y-%m-%d %H:%M} UTC"


def calls_left(calls: int | None, probes: int, graders: int) -> float:
    """Return the calls that are left to expect, of graders in the same proportion as so far; 0 if it is not known.

    >>> calls_left(72, 36, 48), calls_left(72, 72, 90), calls_left(None, 3, 0)
    (84.0, 0.0, 0.0)
    """
    if not calls or not probes:
        return 0.0
    left = max(0, calls - probes)
    return left + left * graders / probes


def format_rate(rate: float) -> str:
    """Return a rate with two digits; a slow one as the seconds of a call."""
    if 0 < rate < 0.1:
        return f"a call in {1 / rate:,.0f} s"
    return f"{rate:,.0f} a second" if rate >= 10 or not rate else f"{rate:.2g} a second"


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
