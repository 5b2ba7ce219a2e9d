"""Identity of probes: one probe for each set of answers, with an id that does not depend on run or folder."""

from __future__ import annotations

import inspect
import operator
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NoReturn

import pytest

from pytest_fairness.core.digests import canonical, digest
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.serialization import RecordContext, read_fields
from pytest_fairness.core.shared_prompts import describe_sharing
from pytest_fairness.counterfactual.confounds import find_confounds
from pytest_fairness.declarative.files import suite_in
from pytest_fairness.plugin.config.settings import Settings
from pytest_fairness.plugin.probes.mark_arguments import probe_id
from pytest_fairness.plugin.probes.markers import check_own_marks, get_mark, get_mark_arguments
from pytest_fairness.plugin.probes.probe import Probe

Fixtures = Mapping[str, pytest.FixtureDef[Any]]

_VISIBLE: pytest.StashKey[dict[tuple[str, ...], Fixtures]] = pytest.StashKey()
"""The fixtures that are visible to the tests of a collector, by the requested names."""

_INSTALLED = {"site-packages", "dist-packages"}
"""Folders of a virtual environment, which may be inside the rootdir."""

_LEVELS: Mapping[str, type[pytest.Collector]] = {
    "class": pytest.Class,
    "module": pytest.Module,
    "package": pytest.Package,
}
"""The level of the collection tree at which pytest keeps the value of a fixture, by its scope."""


@dataclass(frozen=True, slots=True)
class SampleParameter:
    """The parameter of a threshold's test: the probe and the model of `measured`."""

    probe: Probe
    model: pytest.FixtureDef[Any] | None
    """The fixture of the model, which a module or class may override."""

    def __repr__(self) -> str:
        return f"<sample of {self.probe.id}>"


@dataclass(frozen=True, slots=True)
class ItemParameter:
    """The parameter of a probe's test: the item that it measures, by its index."""

    sample: SampleParameter
    index: int

    def __repr__(self) -> str:
        return f"<item {self.sample.probe.items[self.index].id} of {self.sample.probe.id}>"


@dataclass(frozen=True, slots=True)
class CollectionError:
    """The parameter of a test whose item or probe could not be built; the test fails with the reason."""

    reason: str
    is_skipped: bool = False

    def end(self) -> NoReturn:
        """Fail the test with the reason, or skip it."""
        if self.is_skipped:
            pytest.skip(self.reason)
        pytest.fail(self.reason, pytrace=False)


class Probes:
    """The probes of one process, each built when a test of it is first collected."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._probes: dict[tuple[Callable[..., object], str], Probe] = {}
        self._files: dict[str, Path] = {}
        """The files of probes by their ids."""
        self._grader_fixtures: dict[str, Fixtures] = {}
        """The grader fixtures of probes by their ids."""
        self._used_fixtures: dict[tuple[object, ...], Fixtures] = {}
        """The fixtures that a fixture uses, by the fixture and the level of its scope."""

    @property
    def lint(self) -> str:
        """The lint report of the counterfactual items of all probes; empty without any."""
        reports = [probe.lint for probe in self._probes.values() if probe.lint is not None]
        return str(reduce(operator.add, reports)) if reports else ""

    @property
    def built(self) -> list[Probe]:
        """The probes of the collected tests."""
        return list(self._probes.values())

    @property
    def errors(self) -> list[str]:
        """A remark for each probe whose items could not be built: its data or an extra is missing, say."""
        return [probe.error for probe in self._probes.values() if probe.error]

    @property
    def confounds(self) -> list[str]:
        """A remark for each probe with confounds in its design: one of them, and the kinds of the others."""
        remarks = []
        for probe in self._probes.values():
            if confounds := find_confounds(probe.designed_items):
                first, *others = confounds
                kinds = ", ".join(dict.fromkeys(other.kind for other in others))
                more = f"; {len(others)} more ({kinds}): pytest-fairness lint lists them" if others else ""
                remarks.append(f"{probe.function.__name__}: confound: {first.text}{more}")
        return remarks

    @property
    def shared_prompts(self) -> list[str]:
        """A remark for each probe whose items share prompts, with the number of items that they count as."""
        remarks = {probe.function.__name__: describe_sharing(probe.items) for probe in self._probes.values()}
        return [f"{name}: {remark}" for name, remark in remarks.items() if remark]

    def get_sample(self, test: pytest.Item, function: Callable[..., object]) -> SampleParameter:
        """Return the sample that a test measures.

        Args:
            test: A test of a probe, or of a threshold on it.
            function: The function of the probe.

        Raises:
            FairnessError: The answers or grades of the test would be those of another test.
        """
        function = plain_function(function)
        graders = grader_fixtures(function)
        self._refuse_shared(test, ["model", *graders])
        path, name = self._home(test, function, graders)
        probe_id = f"{getattr(function, 'fairness_suite', None) or file_id(path, self._settings.root)}::{name}"
        if (function, probe_id) not in self._probes:
            self._probes[function, probe_id] = self._build(function, probe_id, path)
        visible = visible_fixtures(test, graders)
        if missing := next((name for name in graders if name not in visible), None):
            raise FairnessError(_explain_missing_grader(function, missing))
        first = self._grader_fixtures.setdefault(probe_id, visible)
        for fixture in visible.keys() | first.keys():
            if visible.get(fixture) is not first.get(fixture):
                raise FairnessError(
                    f"the probe {probe_id} is graded with two fixtures `{fixture}`, "
                    f"{self._location(first.get(fixture))} and {self._location(visible.get(fixture))}: "
                    "make it two probes"
                )
        return SampleParameter(self._probes[function, probe_id], visible_fixtures(test, ["model"]).get("model"))

    def _home(self, test: pytest.Item, function: Callable[..., object], graders: Iterable[str]) -> tuple[Path, str]:
        """Return the file of a probe and its name there; with graders of a class it is a probe of that class."""
        path, name = find_source_file(function), probe_name(function)
        owner = providing_class(test, graders)
        if owner is None or any(_is_same(value, function) for value in vars(owner.obj).values()):
            return path, name
        classes = _class_name(owner)
        if inherited := _attribute(function, owner.obj):
            return owner.path, f"{classes}.{inherited}"
        where = "" if owner.path == path else f"{file_id(owner.path, self._settings.root)}::"
        return path, f"{name}@{where}{classes}"

    def _build(self, function: Callable[..., object], probe_id: str, path: Path) -> Probe:
        suite = getattr(function, "fairness_suite", None) or suite_in(path)
        in_root = path.parent == self._settings.root
        suite = suite or (path.stem.removeprefix("test_") if in_root else path.parent.name)
        mark = get_mark(function, "probe")
        assert mark is not None  # noqa: S101 - called for probes only
        try:
            if probe_id in self._files:
                files = sorted({str(path), str(self._files[probe_id])})
                raise FairnessError(
                    f"two probes have the id {probe_id!r} ({' and '.join(files)}): give each an `id` of its own in its "
                    "mark, or a folder of its own name where its file lies outside of the rootdir"
                )
            check_own_marks(function, "probe")
            probe = Probe(function, probe_id, suite, get_mark_arguments(mark))
        except FairnessError as error:
            return Probe(function, probe_id, suite, {}, error=f"probe {function.__name__}: {error}")
        self._files[probe_id] = path
        probe.build(self._settings)
        return probe

    def _refuse_shared(self, test: pytest.Item, names: Iterable[str]) -> None:
        """Check that no fixture is made once for tests with different fixtures that it uses."""
        visible = visible_fixtures(test, names)
        for name, fixture in visible.items():
            if fixture.scope == "function":
                continue
            level = _LEVELS.get(fixture.scope)
            key = fixture, level and test.getparent(level)
            uses = {used: visible[used] for used in fixture.argnames if used in visible}
            first = self._used_fixtures.setdefault(key, uses)
            for used in uses:
                if uses[used] is not first.get(used):
                    raise FairnessError(
                        f"the fixture `{name}` ({self._location(fixture)}) is made once, and uses two fixtures "
                        f"`{used}`, {self._location(first.get(used))} and {self._location(uses[used])}: "
                        f"override `{name}` as well"
                    )

    def find_model_source(self, value: object, fixture: pytest.FixtureDef[Any], test: pytest.Item) -> tuple[str, str]:
        """Return the source of the user's model, for its key, and a label of the source, for its name.

        Each module or class with the fixture, and each of its parameters, makes a model of its own. One function of
        another module may make several: then only the label distinguishes their names.
        """
        levels = [node for node in _levels(test) if _sees(node, fixture)]
        # The outermost level that sees the fixture defines it, unless the folder of the module sees it, too.
        owner = levels[0] if levels and not (levels[0].parent and _sees(levels[0].parent, fixture)) else None
        classes = [_class_name(owner)] if isinstance(owner, pytest.Class) else []
        numbers = find_parameters(test, [fixture.argname])
        parameters = [f"{name}{index}" for name, index in numbers.items() if index and name != "model_name"]
        module = owner and owner.getparent(pytest.Module)
        is_foreign = module is not None and getattr(value, "__module__", None) != module.obj.__name__
        files = [file_id(module.path, self._settings.root)] if module and is_foreign else []
        label = "::".join([*files, *classes, *parameters])
        source = fixture.baseid
        if code := _get_code(fixture):
            file = file_id(Path(code.co_filename), self._settings.root)
            # For files outside of the rootdir, pytest gives the base id of the rootdir, or of one another.
            if self._settings.root / file != Path(code.co_filename):
                source = "::".join([file, *classes])
        # By their values: with another first parameter, the second one must not get its answers.
        values = "".join(f"#{name}={_value_form(test, name)}" for name in numbers if name != "model_name")
        return f"{source}#0{values}", label

    def _location(self, fixture: pytest.FixtureDef[Any] | None) -> str:
        if fixture is None or (code := _get_code(fixture)) is None:
            return "another's"
        return f"{file_id(Path(code.co_filename), self._settings.root)}:{code.co_firstlineno}"


def file_id(path: Path, root: Path) -> str:
    """Return the name of a file in the ids of its probes, the same on every machine.

    It is the path from the rootdir; for a file outside, the path from its package, or its folder and name.
    """
    relative = path.relative_to(root) if path.is_relative_to(root) else None
    if relative is not None and _INSTALLED.isdisjoint(relative.parts):
        return relative.as_posix()
    top = path.parent
    while top != top.parent and (top.parent / "__init__.py").is_file():
        top = top.parent
    return path.relative_to(top.parent).as_posix()


def plain_function(function: Callable[..., object]) -> Callable[..., object]:
    """Return the function of a method, since each access makes a new method object."""
    plain: Callable[..., object] = getattr(function, "__func__", function)
    return plain


def find_source_file(function: Callable[..., object]) -> Path:
    """Return the file of a function's source, even if a decorator of another file wraps it."""
    plain: Any = plain_function(inspect.unwrap(function))
    return Path(plain.__code__.co_filename)


def probe_name(function: Callable[..., object]) -> str:
    """Return the name of a probe in its file: the ``id`` of its mark, else that of its function.

    Raises:
        FairnessError: The id is malformed, or several functions may have the name: a factory or a loop made them, or a
            decorator gave them its own.
    """
    mark = get_mark(function, "probe")
    if mark is not None and "id" in mark.kwargs:
        identity: str = read_fields({"id": probe_id}, {"id": mark.kwargs["id"]}, RecordContext())["id"]
        return identity
    name: str = getattr(function, "__qualname__", type(function).__name__)
    module = sys.modules.get(function.__module__)  # none of a declared file
    own = getattr(function, "__name__", "")  # a callable object has none
    if module and own and _is_same(vars(module).get(own), function):
        # test_probe_under_hypothesis_measures_its_item_once: hypothesis gives it another qualified name.
        return own
    if module and not is_bound(function, module) and not hasattr(function, "fairness_suite"):
        raise FairnessError(
            f"probe {name}: its module does not have it under this name, as a factory, a loop or a decorator made it: "
            "give it a name, as in @pytest.mark.probe(id='screening', ...)"
        )
    return name


def is_bound(function: Callable[..., object], module: ModuleType | None) -> bool:
    """Return whether a module has a function under its own name, ``Class.name`` in a class.

    >>> is_bound(is_bound, sys.modules[__name__]), is_bound(is_bound, inspect)
    (True, False)
    """
    value: object = module
    for part in getattr(function, "__qualname__", "").split("."):  # a callable object has none
        value = vars(value).get(part) if isinstance(value, ModuleType | type) else None
    return module is not None and _is_same(value, function)


def _attribute(function: Callable[..., object], owner: type) -> str | None:
    """Return the name of a function in a class or its bases."""
    names = [name for base in owner.__mro__ for name, value in vars(base).items() if _is_same(value, function)]
    return next((name for name in names if _is_same(inspect.getattr_static(owner, name), function)), None)


def _is_same(value: object, function: Callable[..., object]) -> bool:
    return (value.__func__ if isinstance(value, staticmethod | classmethod) else value) is function


def visible_fixtures(node: pytest.Item | pytest.Collector, names: Iterable[str]) -> Fixtures:
    """Return the fixtures of some names that are visible to a test, and all fixtures that they use, by name."""
    collector = node.parent if isinstance(node, pytest.Item) else node  # the same for all of its tests
    if collector is None:
        return _find_fixtures(node, names)
    by_names = collector.stash.setdefault(_VISIBLE, {})
    key = tuple(names)
    if key not in by_names:
        by_names[key] = _find_fixtures(collector, key)
    return by_names[key]


def _find_fixtures(node: pytest.Item | pytest.Collector, names: Iterable[str]) -> Fixtures:
    # The plugin behind `request.getfixturevalue`: pytest has no public function before a test is set up.
    manager = node.config.pluginmanager.get_plugin("funcmanage")
    assert manager is not None  # noqa: S101 - pytest's own
    visible: dict[str, pytest.FixtureDef[Any]] = {}
    pending = list(names)
    while pending:
        name = pending.pop()
        if name not in visible and (fixtures := manager.getfixturedefs(name, node)):
            visible[name] = fixtures[-1]
            pending += fixtures[-1].argnames
    return visible


def find_parameters(test: pytest.Item, names: Iterable[str]) -> dict[str, int]:
    """Return the indices of the parameters on which some fixtures of a test depend, by name."""
    return _parameters_of(test, visible_fixtures(test, names))


def _parameters_of(test: pytest.Item, visible: Fixtures) -> dict[str, int]:
    indices = test.callspec.indices if hasattr(test, "callspec") else {}
    return {name: indices[name] for name in _used_names(tuple(visible.values())) if name in indices}


@lru_cache(maxsize=64)  # each test has the same
def _used_names(fixtures: tuple[pytest.FixtureDef[Any], ...]) -> Mapping[str, None]:
    """Return the names of fixtures and of those that they use."""
    used = [*(fixture.argname for fixture in fixtures), *(name for fixture in fixtures for name in fixture.argnames)]
    return dict.fromkeys(used)


def find_model_name(test: pytest.Item) -> str:
    """Return the model of the options that a test is for; empty where they name none."""
    parameters = test.callspec.params if hasattr(test, "callspec") else {}
    return str(parameters.get("model_name") or "")


def _value_form(test: pytest.Item, name: str) -> str:
    """Return a digest of the value of a test's parameter; of an object its index, with its function or class."""
    callspec: Any = test.callspec  # type: ignore[attr-defined]  # of a test that has parameters
    value = callspec.params[name]
    try:
        return digest(canonical(value))
    except TypeError:
        named = value if hasattr(value, "__qualname__") else type(value)
        return f"{callspec.indices[name]} {named.__module__}.{named.__qualname__}"


def _get_code(fixture: pytest.FixtureDef[Any]) -> CodeType | None:
    """Return the code of a fixture's function; None for another callable."""
    code: CodeType | None = getattr(plain_function(inspect.unwrap(fixture.func)), "__code__", None)
    return code


def providing_class(test: pytest.Item, names: Iterable[str]) -> pytest.Class | None:
    """Return the class that defines some fixtures of a test; None if they are visible in its module."""
    names = list(names)
    visible = visible_fixtures(test, names)
    level = next((node for node in _levels(test) if visible_fixtures(node, names) == visible), None)
    return level if isinstance(level, pytest.Class) else None


def _levels(test: pytest.Item) -> list[pytest.Module | pytest.Class]:
    """Return the module of a test and its classes, from the outermost."""
    return [node for node in test.listchain() if isinstance(node, pytest.Module | pytest.Class)]


def _sees(node: pytest.Collector, fixture: pytest.FixtureDef[Any]) -> bool:
    return visible_fixtures(node, [fixture.argname]).get(fixture.argname) is fixture


def _class_name(owner: pytest.Class) -> str:
    return ".".join(node.name for node in owner.listchain() if isinstance(node, pytest.Class))


def get_sample(test: pytest.Item) -> SampleParameter | None:
    """Return the sample of a collected test; None for a test that measures nothing."""
    parameters = test.callspec.params if hasattr(test, "callspec") else {}
    parameter = parameters["measured"] if "measured" in parameters else parameters.get("probe_item")
    if isinstance(parameter, ItemParameter):
        return parameter.sample
    return parameter if isinstance(parameter, SampleParameter) else None


def model_source(test: pytest.Item) -> str:
    """Return the source of a test's model as a text: tests with the same text measure one model."""
    visible = visible_fixtures(test, ["model"])
    parameters: dict[str, int | str] = dict(_parameters_of(test, visible))
    if "model_name" in parameters:  # its index is another model in another session of the run
        parameters["model_name"] = find_model_name(test)
    return _source_text(visible["model"], tuple(parameters.items()))


@lru_cache(maxsize=64)  # each report of a test has the source of its model
def _source_text(fixture: pytest.FixtureDef[Any], parameters: tuple[tuple[str, int | str], ...]) -> str:
    code = _get_code(fixture)
    return repr((fixture.baseid, code and (code.co_filename, code.co_firstlineno), parameters))


def _explain_missing_grader(function: Callable[..., object], name: str) -> str:
    """Return the error of a grader that is a text and names no fixture: perhaps the name that YAML has for it."""
    from pytest_fairness.core.extensions import GRADERS

    grader = GRADERS.find(name).attr if name in GRADERS.names() else "YesNo"
    return (
        f"probe {function.__name__}: its grader {name!r} is no fixture: write a grader, such as {grader}(...), or the "
        "name of a session-scoped fixture that returns one"
    )


def grader_fixtures(probe: Callable[..., object]) -> list[str]:
    """Return the names of the fixtures that may grade a probe's answers."""
    mark = get_mark(probe, "probe")
    declared = mark.kwargs.get("grade", {"answer": "grader"}) if mark else {}
    graders = list(declared.values()) if isinstance(declared, Mapping) else []
    names = [grader for grader in graders if isinstance(grader, str)]
    has_judge = names or any(hasattr(grader, "graders") for grader in graders)  # a `Judge`, which takes that fixture
    return [*names, "judge"] if has_judge else []
