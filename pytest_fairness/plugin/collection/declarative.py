"""Declared files, ``*.probe.yaml`` and ``*.probe.jsonl``, as test modules with generated functions.

The functions are compiled with the lines of the declared file, so that tracebacks, locations and reports show these.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.declarative.files import suite_in
from pytest_fairness.plugin.compat import GeneratedModule
from pytest_fairness.plugin.probes.identity import CollectionError
from pytest_fairness.plugin.probes.marked_tests import get_item_parameter
from pytest_fairness.plugin.probes.probe import make_data_folders
from pytest_fairness.plugin.report_data import write
from pytest_fairness.plugin.session.session import SESSION
from pytest_fairness.report.escaping import escape_controls

if TYPE_CHECKING:
    from pytest_fairness.declarative.probe import DeclaredProbe, DeclaredThreshold

BROKEN = "broken"
"""The key in the report of an invalid file."""


class DeclaredFiles:
    """Collector of declared files, whose tests of broken files are never deselected."""

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> DeclaredFile | None:
        return None if suite_in(file_path) is None else DeclaredFile.from_parent(parent, path=file_path)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, object, object]:
        # Hidden from every selection: a broken file may declare a selected test.
        broken = [item for item in items if isinstance(item, BrokenDeclaration)]
        items[:] = [item for item in items if not isinstance(item, BrokenDeclaration)]
        try:
            return (yield)
        finally:
            items[:0] = broken


class DeclaredFile(GeneratedModule):
    """A file that declares probes."""

    fault = ""
    """The mistake in the file, in one line; empty where it is valid, or was not read yet."""

    def generate(self) -> ModuleType:
        """Return the module; an empty one for an invalid file.

        Hooks of other plugins read `item.parent.obj` by `hasattr`, which swallows an `AttributeError` only: another
        exception there would end the session (`test_hooks_may_read_the_module_of_a_broken_file`).
        """
        try:
            return self._declared_module()
        except FairnessError as error:
            self.fault = str(error)
        except Exception as error:  # noqa: BLE001 - a bug of this package must not end the session
            self.fault = (
                f"{self.nodeid}: it could not be read, because of a bug in pytest-fairness "
                f"({type(error).__name__}: {error})"
            )
        return ModuleType(self.path.name)

    def _declared_module(self) -> ModuleType:
        from pytest_fairness.declarative.probe import read_probes

        module = ModuleType(self.path.name)
        fairness = self.config.stash[SESSION]
        fairness.use()
        allowed = make_data_folders(fairness.settings).folder(suite_in(self.path) or "")
        probes = read_probes(self.path, self.nodeid, allowed)
        if any(declared.model for declared in probes):
            # Under a name that no probe and no threshold can have; pytest takes the fixture's own.
            setattr(module, "_model", _model_fixture(probes, self.nodeid))  # noqa: B010 - a fixture, found by its name
        for declared in probes:
            test = _probe_test(declared, self.path)
            if declared.model is None or not declared.thresholds:  # rows of a table that is judged are no tests
                setattr(module, test.__name__, test)
            for threshold in declared.thresholds:
                threshold_test = _threshold_test(threshold, test, self.path)
                setattr(module, threshold_test.__name__, threshold_test)
        return module

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Return the tests, or one that fails with the error of the file, so that other files still run."""
        self.obj  # noqa: B018 - generates the module
        if self.fault:
            yield BrokenDeclaration.make(self, "declaration", self.fault, hides_thresholds=True)
            return
        for node in super().collect():
            if isinstance(node, pytest.Function) and isinstance(parameter := get_item_parameter(node), CollectionError):
                line = node.function.__code__.co_firstlineno
                yield BrokenDeclaration.make(self, node.name, f"{self.nodeid}:{line}: {parameter.reason}")
            else:
                yield node


class BrokenDeclaration(pytest.Function):
    """Test in place of an invalid file or probe, which fails with the reason.

    A `pytest.Function`, since hooks of projects read `function`, `fixturenames`, `module` and `cls` of every test.
    """

    reason = ""
    hides_thresholds = False
    """Whether its thresholds are not known; those of a probe whose items are invalid are tests of their own."""

    @classmethod
    def make(cls, file: DeclaredFile, name: str, reason: str, *, hides_thresholds: bool = False) -> BrokenDeclaration:
        """Return the test of a file."""

        def test() -> None:
            raise AssertionError(reason)

        test.__module__ = file.path.name
        broken: BrokenDeclaration = cls.from_parent(file, name=name, callobj=test)
        broken.reason, broken.hides_thresholds = reason, hides_thresholds
        return broken

    def setup(self) -> None:
        write(self, BROKEN, value=True)
        CollectionError(escape_controls(self.reason)).end()

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


def _model_fixture(probes: Sequence[DeclaredProbe], file: str) -> object:
    """Return the fixture of the model of a file's recorded table."""
    models = {declared.model.name if declared.model else "": declared.model for declared in probes}
    if len(models) > 1:
        line = next(declared.line for declared in probes if declared.model is not probes[0].model)
        raise FairnessError(f"{file}:{line}: a file with a recorded table has one model: give this probe its own file")
    (model,) = models.values()
    return pytest.fixture(scope="session", name="model")(lambda: model)


def _probe_test(declared: DeclaredProbe, path: Path) -> FunctionType:
    body = "def test(probe_item, model): probe_item.measure(model)"
    test = _compile_at_line(body, declared.name, path, declared.line)
    return pytest.mark.probe(**declared.arguments)(test)  # type: ignore[no-any-return]


def _threshold_test(declared: DeclaredThreshold, probe: Callable[..., object], path: Path) -> FunctionType:
    body = "def test(measured): expression.require(measured)"
    test = _compile_at_line(body, declared.name, path, declared.line, expression=declared.expression)
    if declared.flaky is not None:
        test = pytest.mark.flaky_threshold(**declared.flaky)(test)
    return pytest.mark.threshold(probe=probe, title=declared.title, **declared.marks)(test)


def _compile_at_line(source: str, name: str, path: Path, line: int, **names: object) -> FunctionType:
    """Return the function of a source, compiled with a name and with a line of the declared file."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr | ast.arg):
            node.lineno = node.end_lineno = line
            node.col_offset = (
                node.end_col_offset
            ) = -1  # none: pytest would underline columns of this source in the user's line
    module = compile(tree, str(path), "exec")
    code = next(part for part in module.co_consts if isinstance(part, CodeType))
    function = FunctionType(code.replace(co_name=name, co_qualname=name), names, name)
    function.__module__ = path.name
    function.__test__ = True  # type: ignore[attr-defined]  # collected whatever `python_functions` matches
    return function
