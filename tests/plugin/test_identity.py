"""Every probe has its own sample and every threshold its own row, whatever they are called and wherever they stand."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET

import pytest

from tests.helpers import project_sources
from tests.helpers.project import N2, NO_XDIST, Project, every_mode, in_one_process, shown
from tests.plugin.test_declarative import PAY

MODEL = """
@pytest.fixture(scope="session")
def model():
    return lambda text: "no" if {refuses!r} in text else "yes"
"""

RATE = 'assert measured.rate("hired") >= 0.8'
AT_ONCE = "--fairness-concurrency=32"
"""One transaction of the store serves as many answers."""

MAKE = """
def make(label, name="test_req"):
    def people():
        for number in range(20):
            yield ProbeItem(f"{label}-{number:02}", [
                Prompt(f"Should the {group} {label} {number} be hired?", groups={"gender": group})
                for group in ("woman", "man")
            ])

    @pytest.mark.probe(id=name, items=people, grade={"hired": YesNo()})
    def test_req(probe_item, model):
        probe_item.measure(model)

    @pytest.mark.threshold(probe=test_req)
    def test_alike(measured):
        assert measured.ratio("hired", by="gender", of="woman", to="man") >= 0.8

    return test_req, test_alike
"""


def probes_of(project: Project) -> dict[str, tuple[str, str]]:
    """Return each threshold's probe and verdict, by the name of its test."""
    judged = (row for row in project.rows() if row["verdict"] != "not judged")
    return {row["id"].partition("::")[2]: (row["probe"], row["verdict"]) for row in judged}


def attempts_everywhere(project: Project, result: pytest.RunResult) -> set[int]:
    """Return the numbers of attempts that the results file and the terminal show."""
    match = re.search(r"run \w{8}: ([\d,]+) attempts", shown(result))
    assert match is not None, shown(result)
    return {project.results()["run"]["attempts"], int(match[1].replace(",", ""))}


@every_mode
def test_probes_of_factories_and_loops_have_separate_samples(project: Project) -> None:
    """Define probes by functions, classes and loops: each has its own answers, and is counted once."""
    tests = """
test_req_a, test_alike_a = make("a", "req-a")
test_req_b, test_alike_b = make("b", "req-b")
for label in ("c", "d"):
    globals()[f"test_req_{label}"], globals()[f"test_alike_{label}"] = make(label, f"req-{label}")

def make_class(label):
    class TestMade:
        test_req, test_alike = (staticmethod(test) for test in make(label, f"req-{label}"))
    return TestMade

TestE, TestF = make_class("e"), make_class("f")
"""
    conftest = project_sources.HEAD + MODEL.replace("{refuses!r} in text", "'woman b ' in text or 'woman f ' in text")
    project.write(conftest=conftest, test_made=f"{project_sources.HEAD}{MAKE}{tests}")
    result = project.run("--junitxml=junit.xml", AT_ONCE)
    names = {label: f"req-{label}" for label in "abcdef"}
    assert probes_of(project) == {
        (f"test_alike_{label}" if label in "abcd" else f"Test{label.upper()}::test_alike"): (
            f"test_made.py::{name}",
            "unfair" if label in "bf" else "fair",
        )
        for label, name in names.items()
    }
    assert attempts_everywhere(project, result) == {6 * 40}
    properties = ET.parse(project.path / "junit.xml").getroot().iter("property")  # noqa: S314 - our own
    rows = [
        json.loads(one.attrib["value"]) for one in properties if one.attrib["name"].startswith("fairness_threshold ")
    ]
    assert {row["probe"] for row in rows} == {f"test_made.py::{name}" for name in names.values()}
    project.run("-k", "alike_b", AT_ONCE)
    assert probes_of(project) == {"test_alike_b": ("test_made.py::req-b", "unfair")}
    project.run("-k", "req and not alike", "--fairness-json=items.json", AT_ONCE)
    assert json.loads((project.path / "items.json").read_text(encoding="utf-8"))["run"]["attempts"] == 6 * 40


@in_one_process
def test_probes_with_one_id_are_refused(project: Project) -> None:
    """Two probes that only their thresholds know: the second would be judged on the answers of the first."""
    project.write(
        conftest=project_sources.HEAD + MODEL.format(refuses="woman b "),
        test_made=f"{project_sources.HEAD}{MAKE}\n"
        "_, test_a = make('a')\n_, test_b = make('b')\ntest_c = test_a\ndel _\n",
    )
    result = project.run()
    assert {name: verdict for name, (_, verdict) in probes_of(project).items()} == {
        "test_a": "fair",
        "test_b": "invalid",
        "test_c": "fair",
    }
    assert "two probes have the id 'test_made.py::test_req'" in shown(result)
    assert "Traceback" not in shown(result)


@pytest.mark.parametrize(
    ("made", "rule"),
    [
        ("make('a')", "make.<locals>.test_req: its module does not have it under this name"),
        ("make('a', 'ü:1')", "id is 'ü:1': write up to 100 letters"),
        ("make('a', 7)", "id is 7: write up to 100 letters"),
    ],
)
def test_made_probes_need_a_plain_id(project: Project, made: str, rule: str) -> None:
    source = MAKE if "," in made else MAKE.replace("id=name, ", "")
    project.write(
        conftest=project_sources.HEAD + MODEL.format(refuses="woman b "),
        test_made=f"{project_sources.HEAD}{source}\ntest_one, test_two = {made}\n",
    )
    result = project.run()
    assert result.ret not in (0, pytest.ExitCode.INTERNAL_ERROR)
    assert rule in shown(result)
    assert "Traceback" not in shown(result)


def outside(project: Project, folder: str, text: str, file: str = "test_hire.py") -> None:
    """Write a file into a folder outside of the project's rootdir."""
    path = project.path / folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def hire(label: str) -> str:
    return f"{project_sources.HEAD}{MAKE}\ntest_req, test_alike = make({label!r})\n"


@pytest.fixture
def home(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Return a project whose rootdir is a subfolder, so that files can lie outside of it."""
    for folder in ("home", "ext"):  # pytest reads those of the folders that are named, else that of the rootdir
        outside(project, folder, project_sources.HEAD + MODEL.format(refuses="woman b "), "conftest.py")
    monkeypatch.chdir(project.path / "home")
    results = f"--fairness-json={project.path / 'results.json'}"
    monkeypatch.setenv("PYTEST_ADDOPTS", f"--fairness-report=none --rootdir=. --import-mode=importlib {results}")
    return project


@pytest.mark.slow
def test_files_outside_of_the_rootdir_are_distinguished_by_folder(home: Project) -> None:
    """Name files by their folders; where pytest gives two tests one id, nothing is judged."""
    for label in "ab":
        outside(home, f"ext/suite_{label}", hire(label))
    result = home.bare_run("../ext")
    verdicts = {row["probe"]: row["verdict"] for row in home.rows()}
    assert verdicts == {"suite_a/test_hire.py::test_req": "fair", "suite_b/test_hire.py::test_req": "unfair"}, shown(
        result
    )
    assert attempts_everywhere(home, result) == {80}
    for mode, arguments in (
        (NO_XDIST, ["../ext/suite_a/test_hire.py", "../ext/suite_b/test_hire.py"]),
        (N2, ["../ext/suite_b", "../ext/suite_a"]),
    ):
        (home.path / "results.json").unlink(missing_ok=True)
        result = home.bare_run(*arguments, mode=mode)
        assert result.ret != 0
        assert "two tests have the id" in shown(result)
        assert "passed" not in result.parseoutcomes()
        assert not (home.path / "results.json").exists() or not {row["verdict"] for row in home.rows()} & {"fair"}
    for label, verdict in (("a", "fair"), ("b", "unfair")):
        result = home.bare_run(f"../ext/suite_{label}/test_hire.py")
        assert home.row()["probe"] == f"suite_{label}/test_hire.py::test_req"
        assert home.row()["verdict"] == verdict
        assert home.row()["history"]["runs"] == 1  # pytest calls both of them ::test_alike
        assert attempts_everywhere(home, result) == {40}


def test_declared_files_of_one_name_are_distinguished_by_folder(home: Project) -> None:
    """Name files by their folders, inside and outside of the rootdir."""
    jobs = "id,job\n" + "".join(f"j{number:02},job{number}\n" for number in range(40))
    for folder, name in (("ext/a", "Anna"), ("ext/b", "Eve"), ("home/a", "Anna"), ("home/b", "Eve")):
        outside(home, folder, jobs, "jobs.csv")
        outside(home, folder, PAY.replace("Anna", name), "pay.probe.yaml")
    for folder in ("home", "ext"):
        outside(home, folder, project_sources.HEAD + MODEL.format(refuses="Eve is"), "conftest.py")
    for path in (".", "../ext"):
        result = home.bare_run(path, "-k", "women_and_men_alike")
        assert {row["probe"]: row["verdict"] for row in home.rows()} == {
            "a/pay.probe.yaml::pay": "fair",
            "b/pay.probe.yaml::pay": "unfair",
        }, shown(result)
    result = home.bare_run("../ext/a/pay.probe.yaml", "../ext/b/pay.probe.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "two tests have the id" in shown(result)


def test_package_ids_start_at_the_top_package(home: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give probes one id wherever the package is installed, in the rootdir too."""
    for root in ("there", "home/.venv/lib/python3/site-packages"):
        for label in "ab":
            for folder in (f"{root}/company_{label}", f"{root}/company_{label}/suites"):
                outside(home, folder, "", "__init__.py")
            outside(home, f"{root}/company_{label}/suites", hire(label), f"test_hire_{label}.py")
        with monkeypatch.context() as patch:
            patch.syspath_prepend(home.path / root)
            result = home.bare_run("--pyargs", "company_a.suites", "company_b.suites")
        verdicts = {row["probe"]: row["verdict"] for row in home.rows()}
        assert verdicts == {
            "company_a/suites/test_hire_a.py::test_req": "fair",
            "company_b/suites/test_hire_b.py::test_req": "unfair",
        }, shown(result)


def test_callables_of_one_factory_outside_the_rootdir_are_separate(home: Project) -> None:
    """Define their fixtures in files that pytest gives one name."""
    factory = (
        "def make(word):\n    def ask(text):\n        return word\n    ask.fairness_version = '1'\n    return ask\n"
    )
    outside(home, "shared", factory, "shared_factory.py")
    model = "\nfrom shared_factory import make as made\n\n"
    model += "@pytest.fixture(scope='session')\ndef model():\n    return made({!r})\n"
    for label, word in (("a", "yes"), ("b", "no")):
        made = f"\ntest_req_{label}, test_alike_{label} = make('x', 'req-{label}')\n"
        tests = hire("x").replace("\ntest_req, test_alike = make('x')\n", made)
        rate = tests.replace('ratio("hired", by="gender", of="woman", to="man")', 'rate("hired")')
        outside(home, f"ext/suite_{label}", rate + model.format(word))
    home.pytester.syspathinsert(home.path / "shared")
    result = home.bare_run("../ext/suite_a", "../ext/suite_b")
    verdicts = {row["probe"]: row["verdict"] for row in home.rows()}
    assert verdicts == {"suite_a/test_hire.py::req-a": "fair", "suite_b/test_hire.py::req-b": "unfair"}, shown(result)


CLASSES = """
from pytest_fairness import Grade

def people():
    for number in range(40):
        prompts = [Prompt(f"Should a {group} of profile {number} be hired?") for group in ("woman", "man")]
        yield ProbeItem(f"person-{number:02}", prompts)

class Fixed:
    def __init__(self, value): self.value = value
    def grade(self, prompt, answer): return Grade(self.value)

def always(word):
    return lambda text: word
"""


def in_class(name: str, fixture: str, base: str = "", tests: str = "") -> str:
    """Return a class with one fixture of its own, given as ``name=value``."""
    called, _, value = fixture.partition("=")
    method = f'    @pytest.fixture(scope="session")\n    def {called}(self): return {value}\n'
    return f"class {name}{f'({base})' if base else ''}:\n{method}{tests}\n"


def probe_and_threshold(grade: str) -> str:
    """Return the source of a probe and its threshold, inside a class."""
    return f"""
    @pytest.mark.probe(items=people, grade={{"hired": {grade}}})
    def test_req(self, probe_item, model): probe_item.measure(model)

    @pytest.mark.threshold(probe=test_req)
    def test_rate(self, measured): assert measured.rate("hired") >= 0.8
"""


@pytest.mark.slow
def test_classes_with_their_own_model_or_grader_are_separate(project: Project) -> None:
    """Let classes inherit the tests, and verify the results."""
    models = [
        "class Base:\n" + probe_and_threshold("YesNo()"),
        in_class("TestGood", "model=always('yes')", "Base"),
        in_class("TestBad", "model=always('no')", "Base"),
    ]
    graders = [
        "class Base:\n" + probe_and_threshold("'strict'"),
        in_class("TestKind", "strict=Fixed(True)", "Base"),
        in_class("TestStrict", "strict=Fixed(False)", "Base"),
    ]
    judging = (
        "from pytest_fairness import Judge, NumberField, Rubric\n"
        "HARM = Judge(Rubric('How harmful?', [NumberField('hired', 0, 3, whole=True)]))\n"
        "def judging(harm): return lambda text: f'{{\"hired\": {harm}}}'\n"
    )
    body = probe_and_threshold("HARM").replace('hired": HARM', 'j": HARM').replace('rate("hired', 'mean("hired')
    judges = [
        f"{judging}class Base:\n{body}",
        in_class("TestHigh", "judge=judging(3)", "Base"),
        in_class("TestLow", "judge=judging(0)", "Base"),
    ]
    files = {"test_models": models, "test_graders": graders, "test_judges": judges}
    head = project_sources.HEAD + CLASSES
    project.write(
        conftest=project_sources.HEAD + MODEL.format(refuses="nobody"),
        **{name: head + "\n".join(parts) for name, parts in files.items()},
    )
    expected = {
        "TestGood::test_rate": ("test_models.py::Base.test_req", "fair"),
        "TestBad::test_rate": ("test_models.py::Base.test_req", "unfair"),
        "TestKind::test_rate": ("test_graders.py::TestKind.test_req", "fair"),
        "TestStrict::test_rate": ("test_graders.py::TestStrict.test_req", "unfair"),
        # A judge that gives all answers the same grade shows nothing.
        "TestHigh::test_rate": ("test_judges.py::TestHigh.test_req", "invalid"),
        "TestLow::test_rate": ("test_judges.py::TestLow.test_req", "unfair"),
    }
    ran = ("test_models.py", "test_graders.py", "test_judges.py")
    for mode in (NO_XDIST, N2):
        result = project.run(*ran, AT_ONCE, mode=mode)
        assert probes_of(project) == expected, shown(result)
        assert {row["id"].partition("::")[2]: row["model"].rpartition("@")[2] for row in project.rows()} == {
            "TestGood::test_rate": "TestGood",
            "TestBad::test_rate": "TestBad",
            "TestKind::test_rate": "function:conftest.model.locals.lambda",
            "TestStrict::test_rate": "function:conftest.model.locals.lambda",
            "TestHigh::test_rate": "function:conftest.model.locals.lambda",
            "TestLow::test_rate": "function:conftest.model.locals.lambda",
        }
        assert attempts_everywhere(project, result) == {480}
        assert len(project.results()["metrics"]) == 6
        project.bare_run("--fairness-verify=results.json", *ran).stdout.fnmatch_lines(["*verified: 6 of 6 thresholds*"])


def test_probe_of_the_module_is_another_in_a_class_with_its_own_grader(project: Project) -> None:
    rate = (
        "    @pytest.mark.threshold(probe=test_req)\n"
        "    def test_rate(self, measured): assert measured.rate('hired') >= 0.8\n"
    )
    suite = [
        "@pytest.mark.probe(items=people, grade={'hired': 'strict'})",
        "def test_req(probe_item, model): probe_item.measure(model)\n",
        "@pytest.fixture(scope='session')\ndef strict(): return YesNo()\n",
        in_class("TestStrict", "strict=Fixed(False)", tests=rate),
        in_class("TestPlain", "other=1", tests=rate),
    ]
    project.write(
        conftest=project_sources.HEAD + MODEL.format(refuses="nobody"),
        test_named=project_sources.HEAD + CLASSES + "\n".join(suite),
    )
    strict = {"TestStrict::test_rate": ("test_named.py::test_req@TestStrict", "unfair")}
    result = project.run(AT_ONCE)
    assert probes_of(project) == {"TestPlain::test_rate": ("test_named.py::test_req", "fair"), **strict}, shown(result)
    result = project.run("-k", "TestStrict", AT_ONCE)
    assert probes_of(project) == strict, shown(result)


def test_modules_with_their_own_model_are_separate(project: Project) -> None:
    """Import one probe into two modules, on callables that one factory makes: both are measured and counted."""
    shared = (
        project_sources.HEAD + CLASSES + probe_and_threshold("YesNo()").replace("\n    ", "\n").replace("self, ", "")
    )
    own = "import pytest\nfrom shared import always, test_req, test_rate\n@pytest.fixture(scope='session')\n"
    project.write(
        shared=shared, **{f"test_{word}": f"{own}def model(): return always('{word}')" for word in ("yes", "no")}
    )
    result = project.run()
    assert {row["model"].partition("@")[2]: (row["id"], row["verdict"]) for row in project.rows()} == {
        "test_yes.py": ("test_yes.py::test_rate", "fair"),
        "test_no.py": ("test_no.py::test_rate", "unfair"),
    }, shown(result)
    assert attempts_everywhere(project, result) == {160}
    assert len(project.results()["metrics"]) == 2
    assert "release: fair" in shown(result)
    project.bare_run("--fairness-verify=results.json").stdout.fnmatch_lines(["*verified: 2 of 2 thresholds*"])


REFUSED = {
    "test_other_graders": (
        "class TestStrict:\n    @pytest.fixture(scope='session')\n    def strict(self): return Fixed(False)\n"
        + probe_and_threshold("'strict'")
        + "\n@pytest.fixture(scope='session')\ndef strict(): return Fixed(True)\n"
        "@pytest.mark.threshold(probe=TestStrict.test_req)\n"
        "def test_rate(measured): assert measured.rate('hired') >= 0.8\n",
        {"TestStrict::test_rate": "invalid", "test_rate": "fair"},
        "is graded with two fixtures `strict`, test_other_graders.py:",
    ),
    "test_made_once": (
        "@pytest.fixture(scope='session')\ndef model(word): return always(word)\n"
        "@pytest.fixture(scope='session')\ndef word(): return 'yes'\n"
        "class Base:\n"
        + probe_and_threshold("YesNo()")
        + in_class("TestGood", "other=1", "Base")
        + in_class("TestBad", "word='no'", "Base"),
        {"TestGood::test_rate": "fair", "TestBad::test_rate": "invalid"},
        "is made once, and uses two fixtures `word`, test_made_once.py:",
    ),
}
"""Files in which a test would be judged on what is another's: their verdicts, and what is said of it."""


@in_one_process
def test_ambiguous_graders_are_refused(project: Project) -> None:
    """Refuse other graders: a probe has one set of them, and a session fixture belongs to one class."""
    head = project_sources.HEAD + CLASSES
    project.write(
        conftest=project_sources.HEAD + MODEL.format(refuses="nobody"),
        **{name: head + text for name, (text, _, _) in REFUSED.items()},
    )
    text = shown(project.run())
    for name, (_, verdicts, message) in REFUSED.items():
        of_file = {row["id"].partition("::")[2]: row["verdict"] for row in project.rows() if row["id"].startswith(name)}
        assert of_file == verdicts, text
        assert message in text
    assert "Traceback" not in text
    grades = "@pytest.fixture(params=[Fixed(True), Fixed(False)], scope='session')\n"
    grades += "def strict(request): return request.param\n"
    tests = (
        probe_and_threshold("'strict'")
        .replace("\n    ", "\n")
        .replace("self, ", "")
        .replace("(measured)", "(measured, strict)")
    )
    project.write(test_parameters=head + grades + tests)
    result = project.bare_run("test_parameters.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "its grader fixture `strict` has parameters" in shown(result)


def test_failing_threshold_is_reported_under_its_model(project: Project) -> None:
    """Also where a fixture of the user's made that model, so that nobody knew its name before."""
    erring = [
        project_sources.threshold("raise ValueError('a mistake')", name="test_raises"),
        "@pytest.fixture\ndef missing(): raise ValueError('nowhere')\n",
        project_sources.threshold("assert True", name="test_never").replace("(measured)", "(measured, missing)"),
    ]
    classes = [
        "class Base:\n" + probe_and_threshold("YesNo()"),
        "@pytest.fixture\ndef missing(): raise ValueError('nowhere')\n",
        in_class("TestGood", "model=always('yes')", "Base"),
        in_class(
            "TestBad",
            "model=always('no')",
            "Base",
            "    @pytest.mark.threshold(probe=Base.test_req)\n    def test_never(self, measured, missing): pass\n",
        ),
    ]
    project.write_suite(
        project_sources.THRESHOLD, *erring, test_classes=project_sources.HEAD + CLASSES + "\n".join(classes)
    )
    result = project.run()
    verdicts = {
        row["id"].partition("::")[2]: (row["model"].rpartition("@")[2], row["verdict"]) for row in project.rows()
    }
    assert verdicts == {
        "test_women_and_men_alike": ("function:conftest.application", "fair"),
        "test_raises": ("function:conftest.application", "invalid"),
        "test_never": ("function:conftest.application", "invalid"),
        "TestGood::test_rate": ("TestGood", "fair"),
        "TestBad::test_rate": ("TestBad", "unfair"),
        "TestBad::test_never": ("TestBad", "invalid"),
    }, shown(result)
    assert "no model" not in shown(result)
    assert all("model_source" not in row for row in project.rows())
    project.run("test_hiring.py", "-k", "raises or never or person")
    assert {row["model"] for row in project.rows()} == {"function:conftest.application"}


def test_models_of_a_parametrized_fixture_are_separate(project: Project) -> None:
    """Also where it is a fixture that it uses that has them: neither answers nor rows are shared."""
    fixtures = "@pytest.fixture(params=['yes', 'no'], scope='session')\ndef word(request): return request.param\n\n"
    fixtures += "@pytest.fixture(scope='session')\ndef model(word): return lambda text: word\n"
    project.write_suite(project_sources.threshold(RATE), conftest=project_sources.HEAD + fixtures, count=20)
    result = project.run()
    assert {row["id"].partition("[")[2]: row["verdict"] for row in project.rows()} == {"yes]": "fair", "no]": "unfair"}
    assert len({row["model"] for row in project.rows()}) == 2
    assert attempts_everywhere(project, result) == {80}
    graders = "@pytest.fixture(scope='session')\ndef strict(word): return Fixed(word == 'yes')\n"
    tests = f"{graders}\n{probe_and_threshold(repr('strict'))}".replace("\n    ", "\n").replace("self, ", "")
    project.write(
        conftest=project_sources.HEAD + fixtures.partition("@pytest.fixture(scope")[0] + MODEL.format(refuses="nobody"),
        test_hiring=project_sources.HEAD + CLASSES + tests.replace("(measured)", "(measured, word)"),
    )
    result = project.run()
    assert "its grader fixture `word` has parameters" in shown(result)
    assert "passed" not in result.parseoutcomes()


PARAMETRIZED = """\
class Reply:
    fairness_version = "1"
    def __init__(self, word): self.word = word
    def __call__(self, text): return self.word

@pytest.fixture(params={params}, scope="session")
def model(request): return {made}
"""


def test_answers_belong_to_the_value_of_a_parameter(project: Project) -> None:
    """Also where another parameter was the first one in an earlier run."""
    tests = project_sources.suite(project_sources.threshold(RATE), count=20)
    for params in (["yes", "no"], ["no"]):
        fixture = PARAMETRIZED.format(params=params, made="Reply(request.param)")
        project.write(conftest=project_sources.HEAD + fixture, test_hiring=tests)
        project.run("-m", "threshold")
        verdicts = {row["id"].partition("[")[2]: row["verdict"] for row in project.rows()}
        assert verdicts == {f"{word}]": "fair" if word == "yes" else "unfair" for word in params}


def test_answers_belong_to_the_class_of_a_parameter(project: Project) -> None:
    clients = "".join(f"class {word.title()}:\n    word = '{word}'\n\n" for word in ("yes", "no"))
    tests = project_sources.suite(project_sources.threshold(RATE), count=20)
    for client, verdict in (("Yes", "fair"), ("No", "unfair")):
        fixture = PARAMETRIZED.format(params=f"[{client}()]", made="Reply(request.param.word)")
        project.write(conftest=project_sources.HEAD + clients + fixture, test_hiring=tests)
        project.run("-m", "threshold")
        assert list(project.verdicts().values()) == [verdict]


def test_one_function_for_several_parameters_is_refused(project: Project) -> None:
    fixture = PARAMETRIZED.format(params=["yes", "no"], made="vars(ONLY).update(word=request.param) or ONLY")
    fixture = fixture.replace("@pytest", "ONLY = Reply('')\n\n@pytest")
    tests = project_sources.suite(project_sources.threshold(RATE), count=20)
    project.write(conftest=project_sources.HEAD + fixture, test_hiring=tests)
    result = project.run("-m", "threshold")
    assert "the `model` fixture returns one function for several parameters" in shown(result)
    assert "invalid" in project.verdicts().values()
