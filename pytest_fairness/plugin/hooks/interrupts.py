"""Interrupts of a run: Ctrl-C, SIGTERM, and the end of a worker's controller."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest

from pytest_fairness.plugin.compat import worker_interactor


def interrupt_on_sigterm(config: pytest.Config) -> None:
    """Handle SIGTERM as Ctrl-C until pytest ends: CI systems send it to a canceled job, and kill the job soon after.

    A second SIGTERM is ignored: `timeout` sends two.
    """

    def interrupt(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise KeyboardInterrupt

    _set_handler(config, signal.SIGTERM, signal.SIG_DFL, interrupt)


def ignore_second_interrupt(config: pytest.Config) -> None:
    """Ignore one more Ctrl-C, which would end the run before answers and report are written. A third ends it."""

    def ignore(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)

    _set_handler(config, signal.SIGINT, signal.default_int_handler, ignore)


def _set_handler(config: pytest.Config, number: signal.Signals, default: Any, handler: Callable[..., None]) -> None:
    """Handle a signal until pytest ends, unless another handler is set."""

    def restore() -> None:
        signal.signal(number, default)

    if signal.getsignal(number) is default and threading.current_thread() is threading.main_thread():
        signal.signal(number, handler)
        config.add_cleanup(restore)


def end_with_controller(config: pytest.Config) -> Callable[[], None]:
    """Return a function that ends the session of a waiting worker once its controller has ended.

    execnet interrupts a worker only after five seconds.
    """
    channel = getattr(worker_interactor(config), "channel", None)

    def check() -> None:
        if channel is None:
            return
        try:
            channel.waitclose(0)
        except channel.TimeoutError:
            return
        except EOFError:  # the controller was killed
            pass
        pytest.exit("the controller of this worker has ended")

    return check
