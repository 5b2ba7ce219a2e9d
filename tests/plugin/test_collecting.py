"""Which tests there are: one per item and model, one per threshold and model."""

from __future__ import annotations

import pytest

from . import sources
from .project import Project, every_mode, in_one_process, shown

FAIR = "simulated:fair?base=0.95"
BIASED = "simulated:biased?base=0.95&ratio=0.4&of=woman"


def collected(project: Project, *args: str) -> list[str]:
    result = project.bare_run("--collect-only", "-q", *args)
    return [line for line in result.outlines if "::" in line]


def test_one_test_per_item_and_one_per_threshold(project: Project) -> None:
    project.write(conftest=sources.application(), test_hiring=sources.suite(count=3))
    assert collected(project) == [
        "test_hiring.py::test_hiring[person-0000]",
        "test_hiring.py::test_hiring[person-0001]",
        "test_hiring.py::test_hiring[person-0002]",
        "test_hiring.py::test_women_and_men_alike",
    ]


def test_one_test_per_item_and_model(project: Project) -> None:
    project.write(test_hiring=sources.suite(count=2))
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
def test_one_verdict_per_threshold_and_model(project: Project) -> None:
    project.write(test_hiring=sources.suite())
    result = project.run("--fairness-model", FAIR, "--fairness-model", BIASED)
    assert {row["model"]: row["verdict"] for row in project.rows()} == {
        "simulated:biased?base=0.95&of=woman&ratio=0.4": "unfair",
        "simulated:fair?base=0.95": "fair",
    }
    assert project.results()["run"]["models"] == sorted(row["model"] for row in project.rows())
    result.assert_outcomes(passed=121, failed=1)


@in_one_process
def test_models_that_differ_in_a_parameter_only_are_told_apart(project: Project) -> None:
    project.write(test_hiring=sources.suite())
    names = [f"simulated:one?base={base}" for base in ("0.9", "0.95")]
    ids = []
    for first, second in (names, names[::-1]):
        project.run("--fairness-model", first, "--fairness-model", second)
        ids.append({row["model"]: row["id"] for row in project.rows()})
    assert ids[0] == ids[1]
    assert sorted(ids[0]) == names
    assert len(set(ids[0].values())) == 2
    assert len({row["estimate"] for row in project.rows()}) == 2


def test_a_model_named_twice_is_tested_once(project: Project) -> None:
    project.write(test_hiring=sources.suite(count=1))
    names = ("simulated:x?base=0.5", "simulated:x?base=0.50")
    assert len(collected(project, "--fairness-model", names[0], "--fairness-model", names[1])) == 2


def test_ids_are_short_ascii_and_hold_nothing_that_breaks_selection(project: Project) -> None:
    items = """
def people():
    for name in ("é a::b [c]", "x" * 200, "x" * 199 + "y", "Zoë", "Zoé"):
        yield ProbeItem(name, [Prompt(f"a man called {name} ")])
"""
    tests = (sources.HEAD, items, sources.PROBE)
    project.write(conftest=sources.application(), test_hiring="\n".join(tests))
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
    project.write(conftest=sources.application(), test_hiring="\n".join((sources.HEAD, items, sources.PROBE)))
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
    project.write(conftest=sources.application(), test_hiring="\n".join((sources.HEAD, items, sources.PROBE)))
    assert [line.partition("::")[2] for line in collected(project)] == [f"test_hiring[{name}]" for name in "abc"]


@in_one_process
def test_a_probe_imported_elsewhere_is_collected_once(project: Project) -> None:
    more = f"from test_hiring import test_hiring, test_women_and_men_alike\n\n{sources.HEAD}\n" + sources.threshold(
        f"assert {sources.RATIO} >= 0.5", name="test_more"
    )
    project.write(conftest=sources.application(), test_hiring=sources.suite(), test_more=more)
    project.run().assert_outcomes(passed=62)
    assert project.verdicts() == {"test_women_and_men_alike": "fair", "test_more": "fair"}
    assert set(project.asked().values()) == {1}


@in_one_process
def test_a_probe_of_a_module_that_holds_no_tests_is_collected_where_it_is_imported(project: Project) -> None:
    test = "from shared import test_hiring\n\n" + sources.HEAD + sources.THRESHOLD
    project.write(conftest=sources.application(), shared=sources.suite("", count=60), test_hiring=test)
    project.run().assert_outcomes(passed=61)


def test_probes_and_thresholds_stand_in_classes_too(project: Project) -> None:
    body = "\n".join(f"    {line}" for line in f"{sources.PROBE}\n{sources.THRESHOLD}".splitlines())
    body = body.replace("(probe_item, model)", "(self, probe_item, model)").replace("(measured)", "(self, measured)")
    count = "BUILT = []\n" + sources.items().replace("():\n", "():\n    BUILT.append(1)\n", 1)
    once = "def test_built_once():\n    assert BUILT == [1]\n"
    project.write(
        conftest=sources.application(),
        test_hiring="\n".join((sources.HEAD, count, f"class TestHiring:\n{body}", once)),
    )
    project.run().assert_outcomes(passed=62)
    assert project.verdicts() == {"TestHiring::test_women_and_men_alike": "fair"}


def test_a_parametrized_threshold_has_a_verdict_for_each_value(project: Project) -> None:
    test = """
@pytest.mark.threshold(probe=test_hiring)
@pytest.mark.parametrize("bound", [0.5, 0.99])
def test_women(measured, bound):
    assert measured.ratio("hired", by="gender", of="woman", to="man") >= bound
"""
    project.write(conftest=sources.application(), test_hiring=sources.suite(test))
    project.run("-k", "test_women")
    rows = {row["id"].partition("::")[2]: row["bounds"][0] for row in project.rows()}
    assert rows == {"test_women[0.5]": 0.5, "test_women[0.99]": 0.99}


def test_items_may_be_a_list(project: Project) -> None:
    source = sources.suite().replace("items=people", "items=list(people())")
    project.write(conftest=sources.application(), test_hiring=source)
    project.run().assert_outcomes(passed=61)


def test_the_body_of_a_probe_may_assert_about_its_item(project: Project) -> None:
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
    project.write(conftest=sources.application(), test_hiring=sources.suite(probe=probe, count=6))
    result = project.run("-k", "test_hiring[")
    result.assert_outcomes(passed=5, failed=1, deselected=1)
    assert "test_hiring[person-0003]" in shown(result)


def test_a_probe_that_measures_nothing_leaves_its_thresholds_whole(project: Project) -> None:
    probe = sources.PROBE.replace("probe_item.measure(model)", "pass")
    project.write(conftest=sources.application(), test_hiring=sources.suite(probe=probe))
    project.run().assert_outcomes(passed=61)
    assert project.row()["attempts"] == 120


@pytest.mark.parametrize("args", [(), ("--fairness-model", FAIR)])
def test_collecting_only_opens_nothing(project: Project, args: tuple[str, ...]) -> None:
    project.write(conftest=sources.application(), test_hiring=sources.suite())
    result = project.bare_run("--collect-only", *args)
    assert result.ret == 0
    assert not project.store.parent.exists()
    assert not project.asked()
