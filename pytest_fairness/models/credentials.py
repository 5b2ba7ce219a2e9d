"""Credentials: the key of a server, and the user's own headers. Neither is ever part of a model's name."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from typing import Any

from pytest_fairness.core import json_text as json
from pytest_fairness.core.errors import FairnessError, FatalError
from pytest_fairness.core.event_loops import Lock, to_thread
from pytest_fairness.core.secrets import redacted
from pytest_fairness.models import parameters
from pytest_fairness.models.names import ModelName

PARAMETERS: Mapping[str, parameters.Kind] = {
    "key_env": parameters.text,
    "key_command": parameters.text,
    "headers_env": parameters.text,
}
_HEADER = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_COMMAND_TIMEOUT = 60.0
"""Timeout of a key command, in seconds."""


class Credentials:
    """The key and the extra headers of one model.

    Args:
        name: The model's name, for messages.
        given: Its parameters: ``key_env`` and ``headers_env`` are names of variables, ``key_command`` is a command.
        environment: The variables.
        variable: The variable with the provider's own key, which is not sent to a server in the model's name.
        server: The origin of the server's address: "provider", "variable" or "name".
    """

    def __init__(
        self, name: ModelName, given: Mapping[str, Any], environment: Mapping[str, str], variable: str, server: str
    ) -> None:
        if "key_env" in given and "key_command" in given:
            raise FairnessError(f"model {name.provider}:{name.name} has key_env and key_command: give one of them")
        self._model, self._environment, self._default, self._server = name.text, environment, variable, server
        self._command: str | None = given.get("key_command")
        self._headers_variable: str | None = given.get("headers_env")
        self._is_named = "key_env" in given
        own = variable if server != "name" else None
        self._variable: str | None = None if self._command else given.get("key_env", own)
        self._token: str | None = None
        self._lock = Lock()

    @property
    def is_token(self) -> bool:
        """Return whether the key is the output of a command: a token that expires."""
        return self._command is not None

    @property
    def key(self) -> str | None:
        """The current key; None for a server without a key, and before the command has run."""
        return self._environment.get(self._variable, "").strip() or None if self._variable else self._token

    @property
    def headers(self) -> dict[str, str]:
        """The headers in the variable of ``headers_env``; raises `FatalError` where it holds none."""
        if self._headers_variable is None:
            return {}
        try:
            headers = json.loads(self._environment.get(self._headers_variable, ""))
        except ValueError:
            headers = None
        if not isinstance(headers, dict) or not all(
            isinstance(value, str) and value.isprintable() and _HEADER.fullmatch(name)
            for name, value in headers.items()
        ):
            raise FatalError(
                f"{self._model}: the variable {self._headers_variable} of headers_env holds no headers: "
                'set it to a JSON object of texts, such as {"api-key": "..."}'
            )
        return headers

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that no message may contain."""
        try:
            values = self.headers.values()
        except FatalError:
            values = {}.values()
        return tuple(value for value in (self.key, *values) if value)

    @property
    def advice(self) -> str:
        """The way out for a refused key."""
        if self._command:
            return "check what its key_command prints"
        if self.key is not None:
            return f"check {self._variable}"
        only = f" ({self._default} is not sent to a base_url in a name)" if self._server == "name" else ""
        return f"no key was sent: name the variable that holds this server's by key_env=NAME{only}"

    def check(self) -> None:
        """Raise `FatalError` where a key or headers are missing; runs no command."""
        _ = self.headers
        if self.key is None and self._variable and (self._is_named or self._server == "provider"):
            raise FatalError(
                f"{self._model}: no API key: set {self._variable} in the environment, "
                "or in a file named by --fairness-env-file"
            )

    async def renew(self, used: str | None) -> bool:
        """Run the command for a new key in place of the one used, and return whether there is one."""
        if self._command is None:
            return False
        async with self._lock:
            if self._token == used:
                self._token = await to_thread(self._run, self._command)
        return self._token != used

    def _run(self, command: str) -> str:
        try:
            process = subprocess.run(  # noqa: S603 - the user's own command, from the model's name
                command if os.name == "nt" else shlex.split(command),  # Windows splits it, and keeps backslashes
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=_COMMAND_TIMEOUT,
                check=False,
                stdin=subprocess.DEVNULL,
                env=dict(self._environment),
            )
            token, problem = process.stdout.strip(), "it printed nothing"
            if process.returncode:
                token, problem = "", f"exit status {process.returncode}: {process.stderr.strip()}"
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            token, problem = "", str(error)
        if not token or not token.isprintable():
            reason = " ".join(redacted(problem).split())[:300]
            raise FatalError(f"{self._model}: its key_command gave no key: {reason}")
        return token
