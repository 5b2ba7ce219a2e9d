"""Ends of a run from outside: by Ctrl-C, by SIGTERM, and of workers whose controller has ended."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

_INTERACTOR = "WorkerInteractor"


def interrupt_on_sigterm(config: pytest.Config) -> None:
    """Handle SIGTERM as Ctrl-C, until pytest ends: CI systems send it to a canceled job, and soon kill.

    What is sent again is ignored: `timeout` sends it twice.
    """

    def interrupt(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    _replace(config, signal.SIGTERM, signal.SIG_DFL, interrupt)


def ignore_second_interrupt(config: pytest.Config) -> None:
    """Ignore one more Ctrl-C, which would end the run before answers and report are written. A third ends it."""

    def ignore(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    _replace(config, signal.SIGINT, signal.default_int_handler, ignore)


def _replace(config: pytest.Config, number: signal.Signals, default: Any, handler: Callable[..., None]) -> None:
    """Handle a signal until pytest ends, unless another handler is set."""

    def restore() -> None:
        signal.signal(number, default)

    if signal.getsignal(number) is default and threading.current_thread() is threading.main_thread():
        signal.signal(number, handler)
        config.add_cleanup(restore)


def end_with_controller(config: pytest.Config) -> Callable[[], None]:
    """Return a function for a worker that waits, which ends its session once the controller has.

    execnet interrupts a worker only after five seconds. The channel is an attribute of xdist's `WorkerInteractor`,
    which no public name leads to; checked with xdist 3.8 and execnet 2.1.
    """
    plugins: list[Any] = [one for one in config.pluginmanager.get_plugins() if type(one).__name__ == _INTERACTOR]
    channel = plugins[0].channel if plugins else None

    def check() -> None:
        if channel is None:
            return
        try:
            channel.waitclose(0)
        except channel.TimeoutError:
            return
        except EOFError:  # it was killed
            pass
        pytest.exit("the controller of this worker has ended")

    return check
