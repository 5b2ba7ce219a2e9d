"""Tools of a server of the Model Context Protocol, for any model."""

from __future__ import annotations

import atexit
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from pytest_fairness import FairnessError, Prompt, Tool
from pytest_fairness.extending import did_you_mean, install, one_line
from pytest_fairness.extending import event_loops as asyncio
from pytest_fairness.graders import ToolError

_START = 30.0
"""Seconds in which a server must have started."""


class McpServer:
    """A server whose tools are offered to a model, and whose results answer the model's calls.

    It starts when its tools are first read, once in each process, and ends with the process or with `close`. A server
    that has died is started again for the next call. Calls may run at the same time.

    Args:
        server: A command with its arguments, the URL of a server, or a server object of the SDK in this process.
        timeout: Seconds of a call.
        env: Environment variables of the command, besides those that the SDK passes on.

    Raises:
        FairnessError: The argument is none of these.
    """

    def __init__(
        self, server: Sequence[str] | str | object, *, timeout: float = 30.0, env: Mapping[str, str] | None = None
    ) -> None:
        if isinstance(server, str) and not server.startswith(("http://", "https://")):
            raise FairnessError(
                f'the MCP server {server!r:.80} is no URL: write a command as a list, ["python", "server.py"]'
            )
        if not server:
            raise FairnessError('the command of an MCP server is empty: write a list, ["python", "server.py"]')
        self._server, self._timeout, self._env = server, timeout, dict(env or {})
        self._lock = threading.Lock()
        self._connection: _Connection | None = None
        self._tools: dict[str, Tool] = {}

    def __repr__(self) -> str:
        return f"McpServer({self._title!r})"

    def tools(self, *names: str) -> list[Tool]:
        """Return the tools of the server, for ``tools=`` of a probe.

        Args:
            names: The tools to offer. Default: all.

        Raises:
            FairnessError: The server does not start, or has no such tool.
        """
        offered = self._offered()
        return [offered[self._check(name)] for name in names] if names else list(offered.values())

    def results(self, *names: str) -> dict[str, Callable[[Prompt, Mapping[str, Any]], Any]]:
        """Return functions that call tools on the server, for ``results=`` of a `Conversation`.

        A call of any other tool ends the conversation, and is not executed. So name the tools that only read.

        Args:
            names: The tools to execute, at least one.

        Raises:
            FairnessError: The server does not start, has no such tool, or none is named.
        """
        if not names:
            raise FairnessError('name the tools to execute, such as results("look_up"): others end the conversation')
        return {self._check(name): self._caller(name) for name in names}

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Return the result of a tool: its text, or its structured content.

        Args:
            name: The tool.
            arguments: Its arguments.

        Raises:
            ToolError: The tool has failed.
            FairnessError: The server has died, or did not answer in time.
        """
        connection = self._connect()
        try:
            result = connection.call(name, dict(arguments), self._timeout)
        except TimeoutError as error:  # the server may answer other calls
            raise FairnessError(str(error)) from None
        except FairnessError:
            self.close()
            raise
        texts = [block.text if block.type == "text" else f"[{block.type}]" for block in result.content]
        if result.is_error:
            raise ToolError("\n".join(texts) or f"the tool {name!r} failed")
        return "\n".join(texts) or result.structured_content

    def close(self) -> None:
        """End the server. The next call starts another."""
        with self._lock:
            connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    @property
    def _title(self) -> str:
        if isinstance(self._server, str):
            return self._server.partition("?")[0]
        return " ".join(self._server) if isinstance(self._server, Sequence) else type(self._server).__name__

    def _caller(self, name: str) -> Callable[[Prompt, Mapping[str, Any]], Any]:
        return lambda _prompt, arguments: self.call(name, arguments)

    def _check(self, name: str) -> str:
        if name not in (offered := self._offered()):
            raise FairnessError(f"the MCP server {self._title} has no tool {name!r}: {did_you_mean(name, offered)}")
        return name

    def _offered(self) -> Mapping[str, Tool]:
        if not self._tools:
            connection = self._connect()
            self._tools = {
                tool.name: Tool(tool.name, tool.description or "", tool.input_schema) for tool in connection.tools
            }
            if not self._tools:
                raise FairnessError(f"the MCP server {self._title} has no tools")
        return self._tools

    def _connect(self) -> _Connection:
        with self._lock:
            if self._connection is None or self._connection.has_ended:
                self._connection = _Connection(self._server, self._title, self._env)
            return self._connection


class _Connection:
    """A started server, with a thread and an event loop for it."""

    def __init__(self, server: object, title: str, env: Mapping[str, str]) -> None:
        self._title = title
        self._log = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115 - closed by `close`
        self._started: Future[Any] = Future()
        self._ended = asyncio.Event()
        self._loop = asyncio.make_loop()
        self._thread = threading.Thread(target=self._run, args=(server, env), name="fairness-mcp", daemon=True)
        self._thread.start()
        try:
            self._client, self.tools = self._started.result(_START)
        except ImportError:
            raise FairnessError(f"MCP servers need the library mcp: {install('mcp')}") from None
        except Exception as error:  # noqa: BLE001 - of the server, or of any library
            failure = self._failure("did not start", error)
            self.close()
            raise failure from None
        atexit.register(self.close)

    @property
    def has_ended(self) -> bool:
        return not self._thread.is_alive()

    def call(self, name: str, arguments: dict[str, Any], timeout: float) -> Any:
        """Return the result of a tool.

        Raises:
            TimeoutError: There is none in time.
            FairnessError: The server has died.
        """
        call = asyncio.run_coroutine_threadsafe(
            self._client.call_tool(name, arguments, read_timeout_seconds=timeout), self._loop
        )
        try:
            return call.result(timeout + 5)
        except Exception as error:  # noqa: BLE001 - of the server, or of any library
            call.cancel()
            if isinstance(error, TimeoutError) or "timed out" in str(error).lower():
                raise TimeoutError(
                    f"the MCP server {self._title} did not answer {name!r} within {timeout:g} s: McpServer(..., "
                    "timeout=SECONDS) allows more"
                ) from None
            raise self._failure(f"did not answer {name!r}", error) from None

    def close(self) -> None:
        """End the server, and wait for its end."""
        atexit.unregister(self.close)
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._ended.set)
            self._thread.join(5)
        self._log.close()

    def _run(self, server: object, env: Mapping[str, str]) -> None:
        try:
            self._loop.run_until_complete(self._serve(server, env))
        except BaseException as error:  # noqa: BLE001 - of the server, reported by the caller
            if not self._started.done():
                self._started.set_exception(error)
        finally:
            self._loop.close()

    async def _serve(self, server: object, env: Mapping[str, str]) -> None:
        from mcp import Client, StdioServerParameters, stdio_client

        if isinstance(server, Sequence) and not isinstance(server, str):
            command, *arguments = map(str, server)
            parameters = StdioServerParameters(command=command, args=arguments, env=dict(env) or None)
            server = stdio_client(parameters, errlog=self._log)
        async with Client(server) as client:
            tools, cursor = [], None
            while True:
                page = await client.list_tools(cursor=cursor)
                tools += page.tools
                cursor = page.next_cursor
                if not cursor:
                    break
            self._started.set_result((client, tools))
            await self._ended.wait()

    def _failure(self, what: str, error: BaseException) -> FairnessError:
        """Return the error of the server, with the end of its log."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        log = ""
        if not self._log.closed:
            self._log.seek(0)
            log = next((line for line in reversed(self._log.read()[-4000:].splitlines()) if line.strip()), "")
        reason = one_line(f"{type(error).__name__}: {error}".rstrip(": "), 200)
        return FairnessError(
            f"the MCP server {self._title} {what}: {reason}{f'; its log: {one_line(log, 200)}' if log else ''}"
        )
