"""Collected tests: one per item and model, one per threshold and model."""

from __future__ import annotations

import pytest

from tests.helpers import project_sources
from tests.helpers.project import Project, every_mode, in_one_process, shown

FAIR = "simulated:fair?base=0.95"
BIASED = "simulated:biased?base=0.95&ratio=0.4&of=woman"


def collected(project: Project, *args: str) -> list[str]:
    result = project.bare_run("--collect-only", "-q", *args)
    return [line for line in result.outlines if "::" in line]


def test_each_item_and_threshold_is_one_test(project: Project) -> None:
    project.write_suite(count=3)
    assert collected(project) == [
        "test_hiring.py::test_hiring[person-0000]",
        "test_hiring.py::test_hiring[person-0001]",
        "test_hiring.py::test_hiring[person-0002]",
        "test_hiring.py::test_women_and_men_alike",
    ]


def test_each_item_and_model_is_one_test(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=2))
    ids = collected(project, "--fairness-model", FAIR, "--fairness-model", BIASED)
    assert sorted(ids) == [
        "test_hiring.py::test_hiring[person-0000-simulated:biased]",
        "test_hiring.py::test_hiring[person-0000-simulated:fair]",
        "test_hiring.py::test_hiring[person-0001-simulated:biased]",
        "test_hiring.py::test_hiring[person-0001-simulated:fair]",
        "test_hiring.py::test_women_and_men_alike[simulated:biased]",
        "test_hiring.py::test_women_and_men_alike[simulated:fair]",
    ]


@every_mode
def test_each_threshold_and_model_has_one_verdict(project: Project) -> None:
    project.write(test_hiring=project_sources.suite())
    result = project.run("--fairness-model", FAIR, "--fairness-model", BIASED)
    assert {row["model"]: row["verdict"] for row in project.rows()} == {
        "simulated:biased?base=0.95&of=woman&ratio=0.4": "unfair",
        "simulated:fair?base=0.95": "fair",
    }
    assert project.results()["run"]["models"] == sorted(row["model"] for row in project.rows())
    result.assert_outcomes(passed=121, failed=1)


@in_one_process
def test_models_that_differ_in_one_parameter_are_separate(project: Project) -> None:
    project.write(test_hiring=project_sources.suite())
    names = [f"simulated:one?base={base}" for base in ("0.9", "0.95")]
    ids = []
    for first, second in (names, names[::-1]):
        project.run("--fairness-model", first, "--fairness-model", second)
        ids.append({row["model"]: row["id"] for row in project.rows()})
    assert ids[0] == ids[1]
    assert sorted(ids[0]) == names
    assert len(set(ids[0].values())) == 2
    assert len({row["estimate"] for row in project.rows()}) == 2


def test_model_named_twice_is_tested_once(project: Project) -> None:
    project.write(test_hiring=project_sources.suite(count=1))
    names = ("simulated:x?base=0.5", "simulated:x?base=0.50")
    assert len(collected(project, "--fairness-model", names[0], "--fairness-model", names[1])) == 2


def test_ids_are_short_ascii_and_selectable(project: Project) -> None:
    items = """
def people():
    for name in ("é a::b [c]", "x" * 200, "x" * 199 + "y", "Zoë", "Zoé"):
        yield ProbeItem(name, [Prompt(f"a man called {name} ")])
"""
    project.write_suite("", people=items)
    ids = [line.partition("::test_hiring")[2] for line in collected(project)]
    assert len(set(ids)) == len(ids) == 5
    for test in ids:
        inside = test.removeprefix("[").removesuffix("]")
        assert test.isascii()
        assert len(test) < 70
        assert not {"[", "]", " "} & set(inside)
        assert "::" not in inside
    project.run().assert_outcomes(passed=5)


def test_ids_do_not_depend_on_the_other_items(project: Project) -> None:
    items = """
def people():
    for name in ("医生", "护士", "教师", "a b", "a_b", "x" * 70, "x" * 70 + "y", "x" * 69 + "z"):
        yield ProbeItem(name, [Prompt(f"a man called {name} ")])
"""
    project.write_suite("", people=items)
    ids = collected(project)
    assert len(set(ids)) == 8
    assert "test_hiring.py::test_hiring[a_b]" in ids
    for seed in range(3):
        fewer = collected(project, "--fairness-sample=5", f"--fairness-seed={seed}")
        assert len(fewer) == 5
        assert set(fewer) < set(ids)


def test_ids_do_not_depend_on_the_order_of_the_items(project: Project) -> None:
    items = """
def people():
    for name in ("b", "c", "a"):
        yield ProbeItem(name, [Prompt(f"a man called {name} ")])
"""
    project.write_suite("", people=items)
    assert [line.partition("::")[2] for line in collected(project)] == [f"test_hiring[{name}]" for name in "abc"]


@in_one_process
def test_imported_probe_is_collected_once(project: Project) -> None:
    more = (
        f"from test_hiring import test_hiring, test_women_and_men_alike\n\n{project_sources.HEAD}\n"
        + project_sources.threshold(f"assert {project_sources.RATIO} >= 0.5", name="test_more")
    )
    project.write_suite(test_more=more)
    project.run().assert_outcomes(passed=62)
    assert project.verdicts() == {"test_women_and_men_alike": "fair", "test_more": "fair"}
    assert set(project.calls().values()) == {1}


@in_one_process
def test_probe_of_a_plain_module_is_collected_where_imported(project: Project) -> None:
    test = "from shared import test_hiring\n\n" + project_sources.HEAD + project_sources.THRESHOLD
    project.write(conftest=project_sources.application(), shared=project_sources.suite("", count=60), test_hiring=test)
    project.run().assert_outcomes(passed=61)


def test_marked_function_that_pytest_does_not_collect_is_refused(project: Project) -> None:
    alias = "the_probe = test_hiring\n"
    tests = [
        project_sources.threshold("assert measured.rate('hired') >= 0", name=name) for name in ("women", "test_men")
    ]
    project.write_suite(alias, *tests)
    result = project.run()
    assert "women is marked as a threshold, and pytest collects no test of that name" in shown(result)
    assert result.ret == pytest.ExitCode.INTERRUPTED


@pytest.mark.parametrize(
    ("header", "fault"),
    [
        ("class Hiring:", "the class Hiring has thresholds, and pytest collects no class of that name"),
        ("class TestHiring:\n    def __init__(self): pass", "pytest collects no class with a constructor"),
        (
            "class Base:\n    def __init__(self): pass\n\nclass TestHiring(Base):",
            "pytest collects no class with a constructor",
        ),
        ("class Hiring:\n    __test__ = False", ""),
    ],
)
def test_thresholds_of_a_class_that_pytest_does_not_collect_are_refused(
    project: Project, header: str, fault: str
) -> None:
    threshold = project_sources.THRESHOLD.replace("(measured)", "(self, measured)").replace("\n", "\n    ")
    project.write_suite(f"{header}\n    {threshold}")
    result = project.run()
    assert fault in shown(result)
    assert result.ret == (pytest.ExitCode.INTERRUPTED if fault else pytest.ExitCode.OK)


def test_base_class_of_thresholds_needs_no_test_name(project: Project) -> None:
    threshold = project_sources.THRESHOLD.replace("(measured)", "(self, measured)").replace("\n", "\n    ")
    project.write_suite(f"class Base:\n    {threshold}\n\nclass TestHiring(Base): pass\n")
    project.run().assert_outcomes(passed=61)
    assert project.verdicts() == {"TestHiring::test_women_and_men_alike": "fair"}


def test_probes_and_thresholds_may_be_in_classes(project: Project) -> None:
    body = "\n".join(f"    {line}" for line in f"{project_sources.PROBE}\n{project_sources.THRESHOLD}".splitlines())
    body = body.replace("(probe_item, model)", "(self, probe_item, model)").replace("(measured)", "(self, measured)")
    count = "BUILT = []\n" + project_sources.items().replace("():\n", "():\n    BUILT.append(1)\n", 1)
    once = "def test_built_once():\n    assert BUILT == [1]\n"
    project.write(
        conftest=project_sources.application(),
        test_hiring="\n".join((project_sources.HEAD, count, f"class TestHiring:\n{body}", once)),
    )
    project.run().assert_outcomes(passed=62)
    assert project.verdicts() == {"TestHiring::test_women_and_men_alike": "fair"}


def test_parametrized_threshold_has_a_verdict_per_value(project: Project) -> None:
    test = """
@pytest.mark.threshold(probe=test_hiring)
@pytest.mark.parametrize("bound", [0.5, 0.99])
def test_women(measured, bound):
    assert measured.ratio("hired", by="gender", of="woman", to="man") >= bound
"""
    project.write_suite(test)
    project.run("-k", "test_women")
    rows = {row["id"].partition("::")[2]: row["bounds"][0] for row in project.rows()}
    assert rows == {"test_women[0.5]": 0.5, "test_women[0.99]": 0.99}


def test_items_may_be_a_list(project: Project) -> None:
    source = project_sources.suite().replace("items=people", "items=list(people())")
    project.write(conftest=project_sources.application(), test_hiring=source)
    project.run().assert_outcomes(passed=61)


def test_probe_body_may_assert_about_its_item(project: Project) -> None:
    probe = """
@pytest.mark.probe(items=people, grade={"hired": YesNo()}, repetitions=2)
def test_hiring(probe_item, model):
    attempts = probe_item.measure(model)
    assert [a.prompt for a in attempts] == [p for p in probe_item.prompts for _ in range(2)]
    assert [a.attempt.repetition for a in attempts] == [0, 1, 0, 1]
    assert {type(a["hired"]) for a in attempts} == {bool}
    assert probe_item.id.startswith("person-")
    assert probe_item.id != "person-0003"
"""
    project.write_suite(probe=probe, count=6)
    result = project.run("-k", "test_hiring[")
    result.assert_outcomes(passed=5, failed=1, deselected=1)
    assert "test_hiring[person-0003]" in shown(result)


def test_probe_that_measures_nothing_keeps_its_thresholds_complete(project: Project) -> None:
    probe = project_sources.PROBE.replace("probe_item.measure(model)", "pass")
    project.write_suite(probe=probe)
    project.run().assert_outcomes(passed=61)
    assert project.row()["attempts"] == 120


@pytest.mark.parametrize("args", [(), ("--fairness-model", FAIR)])
def test_collect_only_opens_nothing(project: Project, args: tuple[str, ...]) -> None:
    project.write_suite()
    result = project.bare_run("--collect-only", *args)
    assert result.ret == 0
    assert not project.store.parent.exists()
    assert not project.calls()
