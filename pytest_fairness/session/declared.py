"""``*.probe.yaml`` and ``*.probe.jsonl`` as test modules: test functions that are made, not read.

They are compiled as if they stood in the declared file, so that tracebacks, locations and reports show the line there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.declared.files import suite_in
from pytest_fairness.report.texts import visible
from pytest_fairness.session.collection import item_of
from pytest_fairness.session.compat import MadeModule
from pytest_fairness.session.probes import DataFolders
from pytest_fairness.session.state import SESSION, Unbuilt

if TYPE_CHECKING:
    from pytest_fairness.declared.probe import DeclaredProbe, DeclaredThreshold

BROKEN = "fairness_broken"
"""The property of a report that says that a file is no declaration."""


class DeclaredFiles:
    """Collects them, and keeps what is said of broken ones."""

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> DeclaredFile | None:
        return None if suite_in(file_path) is None else DeclaredFile.from_parent(parent, path=file_path)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, object, object]:
        # Nothing that chooses tests sees them: nobody knows what they would have declared.
        broken = [item for item in items if isinstance(item, Broken)]
        items[:] = [item for item in items if not isinstance(item, Broken)]
        try:
            return (yield)
        finally:
            items[:0] = broken


class DeclaredFile(MadeModule):
    """A file that declares probes."""

    def make(self) -> ModuleType:
        from pytest_fairness.declared.probe import read_probes

        module = ModuleType(self.path.name)
        fairness = self.config.stash[SESSION]
        fairness.use()
        allowed = DataFolders(fairness.settings.data).folder(suite_in(self.path) or "")
        for declared in read_probes(self.path, self.nodeid, allowed):
            test = _probe_test(declared, self.path)
            setattr(module, test.__name__, test)
            for threshold in declared.thresholds:
                made = _threshold_test(threshold, test, self.path)
                setattr(module, made.__name__, made)
        return module

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """The tests, or one that fails with what is wrong with the file: other files run all the same."""
        try:
            self.obj  # noqa: B018 - which makes it
        except FairnessError as error:
            yield Broken.from_parent(self, name="declaration", reason=str(error))
            return
        for node in super().collect():
            if isinstance(node, pytest.Function) and isinstance(unbuilt := item_of(node), Unbuilt):
                line = node.function.__code__.co_firstlineno
                yield Broken.from_parent(self, name=node.name, reason=f"{self.nodeid}:{line}: {unbuilt.reason}")
            else:
                yield node


class Broken(pytest.Item):
    """Stands for a file, or a probe of it, that cannot be tested; fails with the reason."""

    def __init__(self, *, reason: str, **node: Any) -> None:
        super().__init__(**node)
        self._reason = reason

    def setup(self) -> None:
        self.user_properties.append((BROKEN, "yes"))
        Unbuilt(visible(self._reason)).end()

    def runtest(self) -> None:
        raise AssertionError(self._reason)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


def _probe_test(declared: DeclaredProbe, path: Path) -> FunctionType:
    body = "def test(probe_item, model): probe_item.measure(model)"
    test = _placed(body, declared.name, path, declared.line)
    return pytest.mark.probe(**declared.arguments)(test)  # type: ignore[no-any-return]


def _threshold_test(declared: DeclaredThreshold, probe: Callable[..., object], path: Path) -> FunctionType:
    body = "def test(measured): expression.require(measured)"
    test = _placed(body, declared.name, path, declared.line, expression=declared.expression)
    if declared.flaky is not None:
        test = pytest.mark.flaky_threshold(**declared.flaky)(test)
    scale = {} if declared.scale is None else {"scale": declared.scale}
    return pytest.mark.threshold(probe=probe, **scale)(test)


def _placed(source: str, name: str, path: Path, line: int, **names: object) -> FunctionType:
    """The function of a source of ours as if it stood in a line of the file, under this name."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt | ast.expr | ast.arg):
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = -1  # none: those of ours would be underlined in the user's line
    module = compile(tree, str(path), "exec")
    code = next(part for part in module.co_consts if isinstance(part, CodeType))
    placed = FunctionType(code.replace(co_name=name, co_qualname=name), names, name)
    placed.__module__ = path.name
    placed.__test__ = True  # type: ignore[attr-defined]  # whatever names the user's `python_functions` asks for
    return placed
