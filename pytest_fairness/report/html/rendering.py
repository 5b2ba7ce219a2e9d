"""Rendering of pages: without external requests, and without scripts but their own."""

from __future__ import annotations

import base64
import hashlib
import sys
from contextlib import suppress
from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from jinja2 import Environment, FileSystemBytecodeCache, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from pytest_fairness.core.formatting import counted
from pytest_fairness.core.version import __version__
from pytest_fairness.report.escaping import escape_controls


def render(template: str, *, styles: tuple[str, ...], scripts: tuple[str, ...] = (), **content: Any) -> str:
    """Return a page with one style, at most one script, and a content security policy that allows nothing else."""
    style, script = ("\n".join(map(_asset, names)) for names in (styles, scripts))
    return (
        _environment()
        .get_template(template)
        .render(
            version=__version__,
            # Our own files, which need no escaping; the policy contains their digests.
            style=Markup(style),  # noqa: S704
            script=Markup(script),  # noqa: S704
            policy=_policy(style, script),
            **content,
        )
    )


def _policy(style: str, script: str) -> str:
    allowed = ["default-src 'none'", "img-src data:", "base-uri 'none'", "form-action 'none'"]
    allowed.append(f"style-src '{_digest(style)}'")
    if script:
        allowed.append(f"script-src '{_digest(script)}'")
    return "; ".join(allowed)


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _asset(name: str) -> str:
    return files("pytest_fairness.report.html").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("pytest_fairness.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_escape_value,
        bytecode_cache=_compiled_templates(),
    )
    environment.filters["sentence"] = sentence
    environment.filters["counted"] = counted
    return environment


class _CompiledTemplates(FileSystemBytecodeCache):
    """A cache of compiled templates in the user's temporary folder; errors of writing are ignored."""

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):
            super().dump_bytecode(bucket)


def _compiled_templates() -> _CompiledTemplates | None:
    """Return the cache of compiled templates, or None; compiling them takes longer than rendering a page."""
    if sys.dont_write_bytecode:
        return None
    try:
        return _CompiledTemplates(pattern=f"pytest-fairness-{__version__}-{jinja2.__version__}-%s.cache")
    except (OSError, RuntimeError):  # no private temporary folder
        return None


def _escape_value(value: object) -> object:
    """Return a value of a template with control characters escaped, since texts are untrusted."""
    return escape_controls(value, lines=True) if type(value) is str else value


def sentence(text: str) -> str:
    """Return a text with a full stop, and a capital where it begins with a word and not with a name in code.

    >>> sentence("about 150 items in all would decide it"), sentence("openai:gpt-x cannot be reached")
    ('About 150 items in all would decide it.', 'openai:gpt-x cannot be reached.')
    """
    text = text.strip()
    first = text.partition(" ")[0].rstrip(",:")
    begin = text[:1].upper() if first.replace("-", "").replace("'", "").isalpha() else text[:1]
    return f"{begin}{text[1:]}{'' if text.endswith(('.', '?', '!')) else '.'}"
