"""An executor for `asyncio.to_thread` whose threads do not delay the end of the process."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from threading import Thread
from typing import Any


class DaemonExecutor(ThreadPoolExecutor):
    """Executor that runs each call in its own daemon thread.

    The threads of the standard executor are joined when the process ends, so a model whose call hangs in one
    would make Ctrl-C hang as well.
    """

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Call a function in a new thread, and return the future of its value or exception."""
        future: Future[Any] = Future()
        call = partial(function, *arguments, **named)
        Thread(target=fulfill, args=(future, call), name="fairness-to-thread", daemon=True).start()
        return future


def fulfill(future: Future[Any], call: Callable[[], Any]) -> None:
    """Call a function unless its future was canceled, and set its value or exception."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except StopIteration as error:  # futures of asyncio do not take it
        future.set_exception(RuntimeError(f"{type(error).__name__}: {error}".rstrip(": ")))
    except BaseException as error:  # noqa: BLE001 - raised where the future is awaited
        future.set_exception(error)
