"""Extensions that are broken, registered twice or of the wrong kind: one line each, with the distribution."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from pytest_fairness import Measured
from pytest_fairness.cli.main import main
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.extensions import EXPORTS, GROUPS
from pytest_fairness.declarative.probe import read_probes
from pytest_fairness.declarative.source import DeclarationError
from pytest_fairness.extending import MetricDefinition, MetricKind

Register = Callable[..., None]

MODULE = """
from pytest_fairness.extending import Exporter, MetricDefinition

class NeedsArguments(Exporter):
    help = "x"
    def __init__(self, path): ...
    def export(self, run, out, arguments): ...

class NoExport(Exporter):
    help = "x"

def nothing(grade): ...

def total(grade, *, by, of, weight=1):
    def part(attempt):
        return weight * attempt[grade] * (attempt.prompt.groups[by] == of)
    return MetricDefinition(lambda s: s.part / s.whole, {"part": part, "whole": grade}, span=(0, 1), title="the share")
"""
YAML = 'template: "Hello {{ name }}"\nvary: {sex: {f: {name: Ann}, m: {name: Ben}}}\nitems: [{id: a}]\n'


@pytest.fixture
def register(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Register:
    """Return a function that registers entry points of distributions in a folder on the path."""
    (tmp_path / "plug.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "plug", raising=False)

    def registered(group: str, distribution: str = "plug", **entries: str) -> None:
        folder = tmp_path / f"{distribution}-2.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 2.0\n")
        lines = [f"{name} = {value}" for name, value in entries.items()]
        (folder / "entry_points.txt").write_text("\n".join([f"[pytest_fairness.{group}]", *lines]))

    return registered


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("no_such_module:X", "export 'x' of plug 2.0 (no_such_module:X) cannot be loaded: ModuleNotFoundError: "),
        ("plug:Absent", "export 'x' of plug 2.0 (plug:Absent) cannot be loaded: AttributeError: "),
        ("plug:nothing", "export 'x' of plug 2.0 (plug:nothing) is no subclass of pytest_fairness.extending.Exporter"),
        ("plug:NeedsArguments", "export 'x' of plug 2.0 (plug:NeedsArguments) cannot be made: TypeError: "),
        ("plug:NoExport", "export 'x' of plug 2.0 (plug:NoExport) cannot be made: TypeError: "),
    ],
)
def test_broken_export_is_refused_in_one_line(
    register: Register, capsys: pytest.CaptureFixture[str], value: str, message: str
) -> None:
    register("exports", x=value)
    with pytest.raises(SystemExit) as ended:
        main(["export", "x", "latest", "--out", "x.txt"])
    assert ended.value.code == 2
    output = capsys.readouterr().err
    assert output.startswith(f"pytest-fairness: {message}")
    assert output.count("\n") == 1
    with pytest.raises(SystemExit):  # it is named in the help, and others work
        main(["export", "--help"])
    output = capsys.readouterr().out
    assert "of plug 2.0" in " ".join(output.split())
    assert "every attempt with its grades" in output


def test_name_of_two_packages_is_refused(register: Register, capsys: pytest.CaptureFixture[str]) -> None:
    register("exports", parquet="plug:NoExport")
    with pytest.raises(FairnessError, match=r"export 'parquet' is registered by plug 2\.0 .* and pytest-fairness .*"):
        EXPORTS.find("parquet")
    assert main(["list", "exports"]) == 0
    listed = " ".join(capsys.readouterr().out.split())
    assert "parquet export 'parquet' is registered by plug 2.0" in listed


def test_extensions_are_not_imported_before_they_are_used(
    register: Register, capsys: pytest.CaptureFixture[str]
) -> None:
    for number, group in enumerate(GROUPS):
        register(group.name, f"plug{number}", x="plug:nothing")
    assert main(["list"]) == 0
    with pytest.raises(SystemExit):
        main(["export", "parquet", "--help"])
    assert capsys.readouterr().out.count("(plug:nothing)") == len(GROUPS)
    assert "plug" not in sys.modules


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("grade: {a: x}", "4:12: grade.a: grader 'x' of plug 2.0 (plug:nothing) is no subclass of"),
        ("grade:\n  a: {x: {}}", "5:7: grade.a: grader 'x' of plug 2.0 (plug:nothing) is no subclass of"),
        ("grade: {a: refused}", "4:12: grade.a: no grader is called 'refused'; did you mean 'refusal'? Known: "),
        ("grade: {a: rating}", "4:12: grade.a: rating needs parameters: write a mapping, {rating: ...}"),
        ("grade: {a: {refusal: {b: 1}}}", "4:23: grade.a.refusal: it has no field 'b'; "),
    ],
)
def test_mistake_with_a_grader_is_located(register: Register, tmp_path: Path, lines: str, message: str) -> None:
    register("graders", x="plug:nothing")
    file = tmp_path / "hello.probe.yaml"
    file.write_text(YAML + lines, encoding="utf-8")
    with pytest.raises(DeclarationError) as caught:
        read_probes(file)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("total(a, by=sex, of=f) <= 1", ""),
        ("where(sex=f).total(a, by=sex, of=f, weight=2) <= 1", ""),
        ("total(a, by=sex, of=x) <= 1", "sex has no group 'x'"),
        ("total(a, by=sex) <= 1", "total needs `of=`"),
        ("total(a, by=sex, of=f, wait=1) <= 1", "total has no argument 'wait'; did you mean 'weight'?"),
        ("total(a, by=sex, of=f, weight=len) <= 1", ""),
        ("total(a, by=sex, of=f, weight=len(a)) <= 1", "len(a) is no name"),
        ("total() <= 1", "total takes one grade before its keywords, not 0"),
        ("totl(a) <= 1", "there is no measure 'totl'; did you mean 'total'?"),
        ("broken(a) <= 1", "metric 'broken' of plug 2.0 (plug:absent) cannot be loaded: AttributeError"),
    ],
)
def test_registered_metrics_are_checked_in_expressions(
    register: Register, tmp_path: Path, expression: str, message: str
) -> None:
    register("metrics", total="plug:total", broken="plug:absent")
    file = tmp_path / "hello.probe.yaml"
    file.write_text(f"{YAML}grade: {{a: refusal}}\nthresholds: {{t: '{expression}'}}", encoding="utf-8")
    if not message:
        assert read_probes(file)[0].thresholds[0].expression.text == expression
        return
    with pytest.raises(DeclarationError) as caught:
        read_probes(file)
    assert message in str(caught.value)


def test_registered_metric_is_an_estimate_with_a_name(register: Register) -> None:
    register("metrics", total="plug:total", nothing="plug:nothing")
    rows = [{"item": n, "sex": sex, "pay": 1 + n % 2} for n in range(40) for sex in ("f", "m")]
    measured = Measured.from_rows(rows, item="item", groups=["sex"])
    estimate = measured.metric("total", "pay", by="sex", of="f")
    assert (estimate.value, estimate.metric, estimate.title) == (0.5, "total(pay; by=sex, of=f)", "the share")
    own = MetricDefinition(lambda s: s.pay / s.n, {"pay": "pay", "n": lambda _: 1}, name="average", title="pay")
    assert (measured.metric(own).metric, measured.metric(own).title) == ("average", "pay")
    as_ratio = MetricDefinition(own.function, own.sums, span=(0, inf), kind=MetricKind.RATIO)
    assert (measured.metric(as_ratio).kind, measured.metric(as_ratio).parity) == (MetricKind.RATIO, 1.0)
    assert measured.metric(replace(as_ratio, parity=1.5)).parity == 1.5
    for fault, message in (({"span": (0, 1)}, "give span="), ({"parity": -1.0}, "within the metric's span")):
        with pytest.raises(FairnessError, match=message):
            replace(as_ratio, **fault)
    with pytest.raises(FairnessError, match="returned a NoneType: it must return a MetricDefinition"):
        measured.metric("nothing", "pay")
    with pytest.raises(FairnessError, match=r"metric 'total': total\(\) missing 2 required keyword-only arguments"):
        measured.metric("total", "pay")
    with pytest.raises(FairnessError, match="no metric is called 'totl'; did you mean 'total'"):
        measured.metric("totl", "pay")


def test_missing_registrations_of_ours_are_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_fairness.core import extensions

    monkeypatch.setattr(extensions, "entry_points", lambda group: [])
    with pytest.raises(FairnessError, match=r"\. pytest-fairness itself registers none: install it again$"):
        EXPORTS.load("parquet")
