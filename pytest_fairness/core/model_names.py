"""The names by which a run shows its models: an alias, else ``provider:name``, with what differs if two are alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from pytest_fairness.core.digests import digest

WRAPPED = " through function:"
"""The part of a model's name that begins the name of the user's callable."""

RECORDED = "recorded:"
"""The provider of models that are tables."""

_BEFORE = r"(?<![\w\[=.:/~-])"
_AFTER = r"(?![\w?&=/~%-]|[.:]\w)"
"""The limits of a name in a text: it is no part of another name, of a test's id or of an option in a command."""


def is_recorded(model: str) -> bool:
    """Return whether a model is a table of answers, which others have graded.

    >>> is_recorded("recorded:gpt-5-mini"), is_recorded("openai:gpt-5-mini")
    (True, False)
    """
    return model.startswith(RECORDED)


class ModelNames:
    """The shown names of models by their full ones.

    >>> small, large = "openai:mini?temperature=0&seed=1", "openai:mini?temperature=0&seed=2"
    >>> names = ModelNames.of([small, "openai:large?seed=1"], {small: "prod"})
    >>> names.show(small), names.show("openai:large?seed=1: the server failed"), names.introduce("prod")
    ('prod', 'openai:large: the server failed', 'prod (openai:mini)')
    >>> [ModelNames.of([small, large]).show(name) for name in (small, large)]
    ['openai:mini (seed=1)', 'openai:mini (seed=2)']
    """

    def __init__(self, shown: Mapping[str, str]) -> None:
        self.shown = dict(shown)

    @classmethod
    def of(cls, models: Iterable[str], aliases: Mapping[str, str] | None = None) -> ModelNames:
        """Return the names of models, each unlike the others.

        Args:
            models: Full names.
            aliases: Aliases by full names.
        """
        aliases = aliases or {}
        labels = {model: _label(model, aliases) for model in dict.fromkeys(models) if model}
        for label in set(labels.values()):
            alike = [model for model in labels if labels[model] == label]
            if len(alike) > 1:
                labels |= _distinct(label, alike)
        return cls(labels)

    def show(self, text: str) -> str:
        """Return a text with the shown name of each model in place of its full one."""
        if text in self.shown:
            return self.shown[text]
        return self._pattern.sub(lambda match: self.shown[match[0]], text) if self._pattern else text

    def introduce(self, model: str) -> str:
        """Return the name of a model, full or shown, with ``provider:name`` behind an alias.

        >>> ModelNames({"openai:mini?seed=1": "prod"}).introduce("openai:mini?seed=1")
        'prod (openai:mini)'
        """
        full = next((name for name, shown in self.shown.items() if model in (name, shown)), model)
        shown, base = self.shown.get(full, model), base_name(full)
        return shown if base in shown or not self.alias(full) else f"{shown} ({base})"

    def full(self, text: str | None) -> str | None:
        """Return the full name of a model that a user names as outputs show it; any other text as it is.

        >>> ModelNames({"openai:mini?seed=1": "prod"}).full("prod")
        'openai:mini?seed=1'
        """
        return next((name for name, shown in self.shown.items() if text == shown), text)

    def alias(self, model: str) -> str:
        """Return the alias by which the run was given a model, by its full name; empty without one."""
        shown = self.shown.get(model, model).partition(" (")[0].partition(WRAPPED)[0]
        return "" if shown in (model, base_name(model)) else shown

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        longest_first = sorted((name for name in self.shown if self.shown[name] != name), key=len, reverse=True)
        if not longest_first:
            return None
        return re.compile(f"{_BEFORE}(?:{'|'.join(map(re.escape, longest_first))}){_AFTER}")


def base_name(model: str) -> str:
    """Return ``provider:name``, without parameters and without the user's callable.

    >>> base_name("openai:mini?seed=1 through function:reply")
    'openai:mini'
    """
    return model.partition(WRAPPED)[0].partition("?")[0]


def server_of(model: str) -> str:
    """Return the name that the user gave the server of a model, as in its full name; empty without one.

    >>> server_of("openai:mini?base_url=http://here/v1&server=box&seed=1")
    'box'
    """
    match = re.search(r"[?&]server=([^&]+)", model.partition(WRAPPED)[0])
    return match[1] if match else ""


def server_note(model: str, address: str) -> str:
    """Return what is to be known of a model with ``server=``, whose answers are stored under that name.

    >>> server_note("openai:mini?server=box", "http://here/v1")
    'answers of server=box are used again whatever its address (now http://here/v1)'
    """
    return f"answers of server={server_of(model)} are used again whatever its address (now {address})"


def plain_id(text: str) -> str:
    """Return a model's name or alias as a part of a test's id: ASCII, without brackets, spaces or ``::``."""
    plain = re.sub(r"[^!-~]+|[\[\](){}<>]+", "_", text.replace("\\", "/"))
    return re.sub(r":{2,}", ":", re.sub(r"_{2,}", "_", plain))


def distinct_id(text: str, model: str) -> str:
    """Return the id of a model that shares it with another model of its run, given its full name."""
    return f"{text}~{digest(model)[:8]}"


def keys_in_runs(key: str, model: str) -> tuple[str, str]:
    """Return a test's id as of runs where no other model shares the id of its model, and where one does.

    >>> keys_in_runs("test_a.py::test_a[openai:x~b77380e1]", "openai:x?seed=1")
    ('test_a.py::test_a[openai:x]', 'test_a.py::test_a[openai:x~b77380e1]')
    >>> keys_in_runs("test_a.py::test_a[0.8-openai:x]", "openai:x?seed=1")[1]
    'test_a.py::test_a[0.8-openai:x~b77380e1]'
    """
    plain = plain_id(base_name(model))
    distinct = distinct_id(plain, model.partition(WRAPPED)[0])
    head, bracket, parameters = key.partition("[")
    if not plain or plain not in parameters:  # a test whose model no option names
        return key, key
    before, _, after = parameters.replace(distinct, plain).rpartition(plain)
    return f"{head}{bracket}{before}{plain}{after}", f"{head}{bracket}{before}{distinct}{after}"


def _label(model: str, aliases: Mapping[str, str]) -> str:
    name, wrapped, function = model.partition(WRAPPED)
    return (aliases.get(name) or name.partition("?")[0]) + wrapped + function


def _distinct(label: str, models: Iterable[str]) -> dict[str, str]:
    """Return labels of models that would be alike: with what differs, else the full names."""
    by_parameters = {model: model.partition(WRAPPED)[0].partition("?")[2].split("&") for model in models}
    by_base = {model: [base] for model in by_parameters if (base := base_name(model)) not in label}
    for parts in (by_base, by_parameters):
        common = frozenset.intersection(*map(frozenset, parts.values())) if parts else frozenset[str]()
        labels = {}
        for model in by_parameters:
            differing = ", ".join(part for part in parts.get(model, ()) if part and part not in common)
            labels[model] = f"{label} ({differing})" if differing else label
        if len(set(labels.values())) == len(labels):
            return labels
    return {model: model for model in by_parameters}
