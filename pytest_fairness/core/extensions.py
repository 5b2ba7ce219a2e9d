"""Extensions: objects that installed packages register in the entry-point groups of pytest-fairness.

Its own models, graders and suites are registered in the same groups, in its ``pyproject.toml``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from pytest_fairness.core.errors import FairnessError, did_you_mean

T = TypeVar("T")

_OURS = "pytest-fairness"


@dataclass(frozen=True, slots=True)
class ExtensionGroup:
    """One entry-point group. Its extensions are imported on first use.

    >>> MODELS.group, "simulated" in MODELS.names()
    ('pytest_fairness.models', True)
    >>> MODELS.find("simulatd")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    pytest_fairness.core.errors.FairnessError: no model provider is called 'simulatd'; did you mean 'simulated'? ...
    """

    name: str
    """The last part of the group's name."""
    noun: str
    """The noun for one of its extensions, in messages."""
    has_shipped: bool = True
    """Whether pytest-fairness itself registers extensions in it."""

    @property
    def group(self) -> str:
        """The name of the entry-point group."""
        return f"pytest_fairness.{self.name}"

    def names(self) -> list[str]:
        """Return the names of all registered extensions, sorted."""
        return sorted({entry.name for entry in entry_points(group=self.group)})

    def find(self, name: str) -> EntryPoint:
        """Return the entry point of an extension, without importing it.

        Raises:
            FairnessError: No package registers the name, or two packages do.
        """
        registered = entry_points(group=self.group)
        # One distribution may be listed twice (installed, and again on the path): that is no duplicate.
        matches = {entry.value: entry for entry in registered if entry.name == name}
        if not matches:
            names = {entry.name for entry in registered}
            similar = did_you_mean(name, names) if names else "none is installed"
            is_broken = self.has_shipped and not any(map(_is_ours, registered))
            hint = f". {_OURS} itself registers none: install it again" if is_broken else ""
            raise FairnessError(f"no {self.noun} is called {name!r}; {similar}{hint}")
        if len(matches) > 1:
            claims = " and ".join(sorted(map(describe_origin, matches.values())))
            raise FairnessError(f"{self.noun} {name!r} is registered by {claims}: uninstall one of them")
        return next(iter(matches.values()))

    def load(self, name: str) -> Any:
        """Import an extension and return the object that its entry point names.

        Raises:
            FairnessError: It is not registered, registered twice, or cannot be imported.
        """
        entry = self.find(name)
        try:
            return entry.load()
        except Exception as error:
            raise self._failure(entry, "cannot be loaded", error) from error

    def load_callable(self, name: str) -> Callable[..., Any]:
        """Return an extension that is a class or a function.

        Raises:
            FairnessError: It cannot be loaded, or is neither.
        """
        loaded = self.load(name)
        if not callable(loaded):
            raise self._refusal(name, f"is a {type(loaded).__name__}: it must be a class or a function")
        result: Callable[..., Any] = loaded
        return result

    def load_class(self, name: str, base: type[T]) -> type[T]:
        """Return an extension that is a subclass of ``base``.

        Raises:
            FairnessError: It cannot be loaded, or is no such class.
        """
        loaded = self.load(name)
        if not (isinstance(loaded, type) and issubclass(loaded, base)):
            raise self._refusal(name, f"is no subclass of pytest_fairness.extending.{base.__name__}")
        return loaded

    def make(self, name: str, base: type[T]) -> T:
        """Return an instance of an extension that is a subclass of ``base``.

        Raises:
            FairnessError: It cannot be loaded, is no such class, or cannot be constructed without arguments.
        """
        loaded = self.load_class(name, base)
        try:
            return loaded()
        except Exception as error:
            raise self._failure(self.find(name), "cannot be made", error) from error

    def _refusal(self, name: str, fault: str) -> FairnessError:
        return FairnessError(f"{self.noun} {name!r} of {describe_origin(self.find(name))} {fault}")

    def _failure(self, entry: EntryPoint, what: str, error: Exception) -> FairnessError:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return FairnessError(f"{self.noun} {entry.name!r} of {describe_origin(entry)} {what}: {reason}")


def describe_origin(entry: EntryPoint) -> str:
    """Return the distribution of an entry point, its version, and the object that it names."""
    owner = f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "an unnamed package"
    return f"{owner} ({entry.value})"


def _is_ours(entry: EntryPoint) -> bool:
    return entry.dist is not None and entry.dist.name == _OURS


MODELS = ExtensionGroup("models", "model provider")
GRADERS = ExtensionGroup("graders", "grader")
METRICS = ExtensionGroup("metrics", "metric", has_shipped=False)
SUITES = ExtensionGroup("suites", "suite")
EXPORTS = ExtensionGroup("exports", "export")
IMPORTS = ExtensionGroup("imports", "import")
COMPARE_SECTIONS = ExtensionGroup("compare_sections", "compare section")
COMMANDS = ExtensionGroup("commands", "command")
PLUGINS = ExtensionGroup("plugins", "plugin")
"""Parts of a run that an option of this package names, such as ``ray`` of ``--fairness-executor``."""

GROUPS = (MODELS, GRADERS, METRICS, SUITES, EXPORTS, IMPORTS, COMPARE_SECTIONS)
