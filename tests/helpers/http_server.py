"""A server on loopback, in a thread of its own, that leaves nothing behind."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from aiohttp import web

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def chat_completion(text: str, model: str = "m", tokens: tuple[int, int] = (20, 5)) -> dict[str, Any]:
    """Return a chat completion with the tokens of its prompt and of its text."""
    message = {"role": "assistant", "content": text}
    return {
        "model": model,
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": tokens[0], "completion_tokens": tokens[1], "total_tokens": sum(tokens)},
    }


@contextmanager
def serving(handler: Handler) -> Iterator[str]:
    """Hand every request to ``handler``, under the URL that is yielded, until the block ends.

    ``asyncio.run`` cancels the requests that are then under way and waits for them: tasks that are left
    to the garbage collector are reported in the midst of whatever test runs later.
    """
    began: Future[tuple[str, Callable[[], object]]] = Future()

    async def serve() -> None:
        application = web.Application()
        application.router.add_route("*", "/{path:.*}", handler)
        runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        began.set_result((
            f"http://127.0.0.1:{runner.addresses[0][1]}",
            lambda: loop.call_soon_threadsafe(ended.set),
        ))  # fmt: skip
        await ended.wait()
        await runner.cleanup()

    with ThreadPoolExecutor(1) as thread:
        served = thread.submit(lambda: asyncio.run(serve()))
        url, end = began.result(10)
        try:
            yield url
        finally:
            end()
            served.result(10)
