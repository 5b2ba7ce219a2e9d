"""Wrong inputs of every form that people write, each with the line that its message must name and what it must show.

Files are made from a good one with one line replaced; marks are arguments of a probe or a threshold.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fairness.attestation.evidence_map import read_clauses
from pytest_fairness.core.acceptances import read_acceptances
from pytest_fairness.core.items import Prompt
from pytest_fairness.declarative.probe import read_probes
from pytest_fairness.models.aliases import read_aliases
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.registry import resolve
from pytest_fairness.plugin.config.project_settings import read_project_settings
from pytest_fairness.plugin.probes.overrides import ThresholdOverrides


@dataclass(frozen=True)
class WrongInput:
    """A file with one mistake."""

    file: str
    text: str
    line: int
    """The line of the mistake, from 1; 0 for an input without lines."""
    shown: str
    """A part of what was written, which the message repeats."""
    read: Callable[[Path], object]
    """A function that reads the file, given its path."""

    @property
    def name(self) -> str:
        return f"{self.file}: {self.text.splitlines()[self.line - 1] if self.line else self.text}"


NUMBERS = ('"many"', "true", "-1", "nan", "[1]", "inf", "{a = 1}", "1e300")
COUNTS = ('"many"', "true", "0", "1.5", "[1]", "-3", "2000000")
TEXTS = ("3", "true", "[]", "2026-01-01")

SERVICE: Mapping[str, Sequence[str]] = {
    "url": ("3", '"host/path"', '"ftp://host"', '""', "true", '["http://h"]'),
    "body": ("3", '"{prompt}"', '["{prompt}"]', '{day = 2026-01-01, q = "{prompt}"}', "{}", '{q = "hello"}'),
    "answer": TEXTS,
    "actions": TEXTS,
    "stream": ('"yes"', "1", "[]"),
    "end": TEXTS,
    "headers": ('"a"', "{A = 3}", '{"a b" = "c"}', '{A = "a\\nb"}', "[]"),
    "version": TEXTS,
    "refusal_status": ("403", '"403"', "[1]", "[403.0]", '["403"]', "[true]"),
    "retry_status": ("409", "[99]", "{}"),
    "concurrency": (*COUNTS, "1001"),
    "rpm": ("0", *NUMBERS[:7]),
    "timeout": ("0", *NUMBERS[:7]),
    "actions_optional": ('"yes"', "1"),
    "urll": ('"http://h/x"',),
    "Timeout": ("5",),
}
_SERVICE = {"url": '"http://h/x"', "answer": '"a"', "body": '{q = "{prompt}"}'}

ASSUMPTIONS: Mapping[str, Sequence[str]] = {
    "rate": (*NUMBERS, "0", "1"),
    "icc": (*NUMBERS, "1"),
    "output": (*NUMBERS, "0"),
    "calls_per_second": (*NUMBERS, "0"),
    "ratee": ("0.5",),
    "latency": ("0.5",),
}
PRICES = ("3", '"1.25"', "{}", "{input = 1}", '{input = "1", output = 2}', "{input = -1, output = 2}",
          "{input = nan, output = 2}", "{input = 1, output = 2, cached = 3}", "[1, 2]", "true",
          "{input = true, output = 1}", "{inputs = 1, output = 2}")  # fmt: skip
DATA = ("3", '""', '" "', "[]", "{}", "true", "2026-01-01")
THRESHOLD: Mapping[str, Sequence[str]] = {
    "bounds": ("0.8", '"0.8 to 1.2"', "[0.8]", "[0.8, 1.0, 1.2]", "[1.2, 0.8]", '["a", "b"]', "[true, 1]", "[nan, 1]",
               '{rate = 0.8}', "[]"),
    "scale": ("3", '"A"', "{A = [0.9, 1.1]}", "{A = 1, B = 2, C = 3}", "{A = [2, 1], B = [0.7, 1.4], C = [0.5, 2.0]}",
              "{A = [0.5, 2.0], B = [0.7, 1.4], C = [0.9, 1.1]}", '{A = ["x", 1], B = [0.7, 1.4], C = [0.5, 2.0]}'),
    "repetitions": (*COUNTS, "nan"),
    "confidence": ("2", "1.0", "0.5", "-1", '"high"', "true", "nan", "[0.9]", "95"),
    "slices": ("3", "[3]", '["a", "a"]', '[""]', "true", "{}", '[["a"]]'),
    "bound": ("[0, 1]",),
    "titel": ('"x"',),
}  # fmt: skip
ALIASES = ("3", "true", "[]", '""', '" "', "{}", '{provider = "openai"}', '{name = "x"}', '{provider = 3, name = "x"}',
           '{provider = "openai", name = 3}', '{provider = "open ai", name = "x"}', '{provider = "openai", name = ""}',
           '{provider = "openai", name = "x?y=1"}', '{provider = "openai", name = "x", day = 2026-01-01}',
           '{provider = "openai", name = "x", stop = ""}', "2026-01-01")  # fmt: skip
ACCEPTED: Mapping[str, str] = {
    "threshold": '"tests/test_a.py::test_alike"', "title": '"alike"', "model": '"simulated:x"', "probe": '"p"',
    "verdict": '"unfair"',
    "estimates": '[{metric = "m", slice = {}, verdict = "unfair", estimate = 0.6, interval = [0.5, 0.7], '
                 'bounds = [0.8, 1.25]}]',
    "items": '"0a"', "graders": '"0b"', "on": "2026-01-10", "until": "2026-03-01", "by": '"Ann"',
    "reason": '"under review"', "run": '"r1"',
}  # fmt: skip
_ESTIMATE = ACCEPTED["estimates"]
WRONG_ACCEPTED: Mapping[str, Sequence[str]] = {
    "threshold": (*TEXTS, '""'), "title": ("3",), "model": ("[]", '""'), "probe": ("1.5",), "items": ("true",),
    "graders": ("[]",), "run": ("3",),
    "verdict": ("3", '"fair"', '"Unfair"', '""', "[]"),
    "on": ('"2026-01-10"', "3", "2026-01-10T10:00:00", "true"),
    "until": ('"2026-03-01"', "2025-01-01", "2028-01-01", "3", "2026-03-01T00:00:00"),
    "by": ("3", '""', '"  "', '"a\\nb"', f'"{"x" * 1001}"'),
    "first": (
        "3", "{}", "{on = 2026-01-10}", '{on = "2026-01-10", estimate = 0.6, renewals = 1}',
        "{on = 2026-01-10, estimate = nan, renewals = 1}", "{on = 2026-01-10, estimate = 0.6, renewals = 0}",
    ),
    "reason": ("true", '""', '"a\\u0007b"'),
    "estimates": (
        "3", "[]", "{}", "[3]", '["a"]', f"{_ESTIMATE[:-1]}, {_ESTIMATE[1:]}",
        _ESTIMATE.replace('verdict = "unfair"', 'verdict = "fair"'),
        _ESTIMATE.replace("slice = {}", "slice = 3"), _ESTIMATE.replace("slice = {}", "slice = {a = 3}"),
        _ESTIMATE.replace("0.6", "0.9"), _ESTIMATE.replace("0.6", '"0.6"'), _ESTIMATE.replace("0.6", "nan"),
        _ESTIMATE.replace("[0.5, 0.7]", "[0.5]"), _ESTIMATE.replace("[0.5, 0.7]", "0.5"),
        _ESTIMATE.replace("[0.5, 0.7]", "[0.5, inf]"),
        _ESTIMATE.replace("[0.8, 1.25]", "[1.25, 0.8]"), _ESTIMATE.replace("[0.8, 1.25]", "[-inf, inf]"),
        _ESTIMATE.replace("[0.8, 1.25]", "0.8"), _ESTIMATE.replace("[0.8, 1.25]", "[nan, 1]"),
        _ESTIMATE.replace('metric = "m"', "metric = 3"), _ESTIMATE.replace("metric", "metrik"),
    ),
    "untill": ("2026-03-01",), "owner": ('"Ann"',),
}  # fmt: skip
CLAUSE: Mapping[str, str] = {
    "framework": '"EU AI Act"', "clause": '"Art. 10"', "subject": '"data"', "relation": '"evidence"',
    "source": '"https://example.org/a"', "match": '[{suite = ["hiring"]}]',
}  # fmt: skip
WRONG_CLAUSE: Mapping[str, Sequence[str]] = {
    "framework": ("3", '""', '" "', '"a\\nb"'), "clause": ("10", "[]"), "subject": ("true",), "relation": ('""',),
    "source": ("3", '"example.org"', '"ftp://example.org"', '"https://exa mple.org"', '""'),
    "status": ("3", '""'), "as_of": ("3", '"2026-01-01"', "2026-01-01T00:00:00"),
    "match": ("3", '"hiring"', "{}", "[3]", "[{}]", '[{suit = ["a"]}]', '[{suite = "a"}]', "[{suite = []}]",
              "[{suite = [3]}]", '[{suite = [""]}]', '[{suite = ["a"], colour = ["b"]}]'),
    "frame": ('"x"',), "note": ('"x"',),
}  # fmt: skip
PARAMETERS = ("temperature=hot", "temperature=3", "temperature=-1", "temperature=true", "top_p=2", "top_p=a",
              "max_tokens=0", "max_tokens=1.5", "max_tokens=many", "max_tokens=true", "seed=1.5", "seed=x",
              "stop=[1]", "stop=[broken", "presence_penalty=3", "frequency_penalty=-3", "api=grpc", "api=1",
              "top_logprobs=0", "timeout=0", "timeout=soon", "rpm=0", "rpm=-1", "rpm=fast", "tpm=0", "extra=3",
              'extra={"api_key":"x"}', "extra=[1]", "temprature=1", "api_key=abc", "key=abc", "token=1")  # fmt: skip
YAML_GOOD = """\
template: "{{ name }} applies as a {{ job }}. Hire {{ them }}? Yes or no."
vary:
  gender:
    female: {name: Anna, them: her}
    male: {name: Ben, them: him}
items:
  - {id: a, job: nurse}
  - {id: b, job: pilot}
grade: {hired: yes-no}
thresholds:
  alike: 0.5 <= ratio(hired, by=gender, of=female, to=male) <= 2
"""
YAML = ("repetitions: two", "repetitions: 0", "repetitions: 1.5", "repetitions: true", "repetitions: [1]",
        "repetitions: 20000", "repetitions:", "confidence: 2", "confidence: high", "confidence: 0.5", "confidence: []",
        "harm: 3", "harm: []", "harm:", "sources: some", "sources: 3", "crossed: 3", "crossed: [a]", "crossed: nobody",
        "tools: search", "tools: 3", "formats: 3", "calibration: 3", "calibration: nowhere.jsonl", "literal: 3",
        "literal: [3]", "placebo: 3", "placebo: []", "placebo: ['{{ nobody }}']",
        "control: strong", "control: {hired: 3}", "control: {hirred: {case: [a, b]}}", "repetition: 2",
        "card: 3", "card: {question: 3}", "choices: 3", "choices: [a]", "nothing: 1")  # fmt: skip
REPLAY: Mapping[str, Sequence[str]] = {
    "prompt": ("3", '""', "[]", "{}"),
    "text": ("3", "null", "[]", "true"),
    "finish_reason": ("2", "[]"),
    "reasoning": ("2", "{}"),
    "served_by": ("2", "true"),
    "usage": ("3", '{"output": "2"}', '{"output": 1.5}', "[]"),
    "latency": ('"2"', "true", "[]", "null"),
    "repetition": ("-1", "1.5", '"0"', "true"),
    "actions": ('"search"', "[3]", '[{"name": 3}]', '[{"nam": "a"}]'),
    "txt": ('"a"',),
    "Usage": ("{}",),
}
"""Values of fields of a recorded answer."""
LIKELIHOODS = ('"propensities": 3', '"propensities": {}', '"propensities": {"a": 1.2}', '"propensities": {"a": "x"}',
               '"log_likelihoods": {"a": 1}', '"log_likelihoods": {"a": [1]}', '"log_likelihoods": {"a": [-1, "x"]}',
               '"log_likelihoods": []')  # fmt: skip
MARKS: Mapping[str, Sequence[str]] = {
    "id": ("3", "''", "'a b'", "'x' * 200", "['a']", "True"),
    "repetitions": ("0", "-1", "1.5", "'two'", "True", "None", "[1]", "20_000"),
    "confidence": ("2.0", "1.0", "0.5", "'high'", "None", "True", "1", "float('nan')"),
    "harm": ("3", "['a']", "True"),
    "crossed": ("3", "['a']"),
    "placebo": ("3", "''", "True", "['a']", "'nothing'"),
    "sources": ("'some'", "3", "None"),
    "literal": ("3", "'[AGE]'", "[3]", "False"),
    "expected": ("3", "'a'", "{'ok': 2}", "{'ok': {'a': 0.9, 'b': 0.9}}", "{'ok': 'x'}", "{'okk': 0.5}", "{'ok': {}}"),
    "control": ("3", "'case'", "{}", "{'ok': 3}", "{'ok': {}}", "{'ok': {'case': 'strong'}}",
                "{'ok': {'case': ('a',)}}",
                "{'ok': {'case': ('a', 'a')}}", "{'ok': {'case': ('a', 'b'), 'at_least': 0}}",
                "{'ok': {'case': ('a', 'b'), 'at_least': 'x'}}", "{'ok': {'case': ('a', 'b'), 'also': 'x'}}",
                "{'okk': {'case': ('a', 'b')}}", "{3: {'case': ('a', 'b')}}"),
    "profiles": ("3", "{'gate': {'items': 3}}", "{'audit': 3}", "{'audit': {}}", "{'audit': {'item': 3}}",
                 "{'audit': {'items': 0}}", "{'smoke': {'repetitions': 1.5}}", "{'audit': {'items': True}}"),
    "formats": ("3", "'all'", "['nothing']"),
    "calibration": ("3", "'nowhere.jsonl'"),
    "tools": ("3", "'search'", "[3]", "[{'name': 3}]"),
    "space": ("3", "'a'"),
    "grade": ("3", "{}", "None", "{3: YesNo()}", "{'ok': YesNo}", "{'ok': 3}", "[YesNo()]", "'ok'"),
    "items": ("3", "None", "[3]", "[]", "'abc'"),
    "itemz": ("3",),
    "repetition": ("3",),
}  # fmt: skip
THRESHOLD_MARKS: Mapping[str, Sequence[str]] = {
    "title": ("3", "''", "' '", "'a\\nb'", "'x' * 200", "['a']"),
    "scale": ("3", "'A'", "(0.8, 1.2)", "{'A': (0, 1)}"),
    "slices": ("3", "('a', 'a')", "('',)", "(3,)", "''", "{'a'}"),
    "exclude": ("3", "'a'", "{'a': 3}", "{'a': ()}", "{3: 'a'}", "{'a': ('',)}", "['a']"),
    "probe": ("3", "None", "'test_probe'", "print"),
    "tittle": ("'a'",),
}
FLAKY_MARKS: Mapping[str, Sequence[str]] = {
    "until": ("'soon'", "3", "None", "'2026-13-01'", "'2099-01-01'", "datetime.datetime(2026, 12, 31)"),
    "max_flip": ("'x'", "None", "0.9", "0.01", "[0.1]", "True"),
    "reason": ("''", "' '"),
    "by": ("''", "' '"),
    "untill": ("'2026-12-31'",),
}
_MODULE = """\
import datetime
import pytest
from pytest_fairness import *

ITEMS = [ProbeItem("q", [Prompt("Hello?", {"gender": "f"}), Prompt("Hello!", {"gender": "m"})], metadata={"case": "a"})]

@pytest.fixture(scope="session")
def model():
    return lambda text: "yes"

@pytest.mark.probe(items=ITEMS, grade={"ok": YesNo()})
def test_probe(probe_item, model):
    probe_item.measure(model)
"""
_FLAKY = {"reason": "'why'", "by": "'Ann'", "until": "datetime.date.today() + datetime.timedelta(30)"}


def marks() -> dict[str, tuple[str, str]]:
    """Return by the name of a test its wrong argument and the value, for the tests of `marks_module`."""
    kinds = {"probe": MARKS, "threshold": THRESHOLD_MARKS, "flaky": FLAKY_MARKS}
    return {
        f"test_{kind}_{argument}_{number}": (argument, value)
        for kind, wrong in kinds.items()
        for argument, values in wrong.items()
        for number, value in enumerate(values)
    }


def marks_module() -> str:
    """Return a module with a test for each wrong argument of a mark."""
    tests = [_MODULE]
    for name, (argument, value) in marks().items():
        kind = name.split("_")[1]
        arguments = {
            "probe": {"items": "ITEMS", "grade": "{'ok': YesNo()}"},
            "threshold": {"probe": "test_probe"},
            "flaky": _FLAKY,
        }[kind] | {argument: value}
        mark = ", ".join(f"{key}={given}" for key, given in arguments.items())
        if kind == "probe":
            head, body = f"@pytest.mark.probe({mark})\ndef {name}(probe_item, model)", "probe_item.measure(model)"
        else:
            head = f"@pytest.mark.threshold({mark if kind == 'threshold' else 'probe=test_probe'})\n"
            head += f"@pytest.mark.flaky_threshold({mark})\n" if kind == "flaky" else ""
            head, body = f"{head}def {name}(measured)", "assert measured.rate('ok') <= 0.2"
        tests.append(f"{head}:\n    {body}\n")
    return "\n\n".join(tests)


INI: Mapping[str, Sequence[str]] = {
    "sample": ("many", "0", "1.5", "-3", "1e9", "20%"),
    "repetitions": ("two", "0", "20000", "1.5"),
    "seed": ("x", "1.5"),
    "budget": ("five", "-5", "0", "inf", "nan"),
    "max_requests": ("0", "many"),
    "max_minutes": ("0", "soon"),
    "max_age": ("30", "soon", "3y"),
    "concurrency": ("0", "1.5", "20000", "x"),
    "profile": ("smok", "all"),
    "batch": ("yes",),
    "accepted": ("maybe",),
    "executor": ("dask", "ray:"),
    "shard": ("9/8", "a", "0/3"),
    "run": ("a b", "latest"),
    "where": ("context", "=a"),
    "price": ("3",),
    "store": ("mysql://root@host/a",),
}
"""Values of keys of ``pytest.ini``, which options take as well."""


def _lines(file: str, text: str, key: str, value: str, read: Callable[[Path], object], shown: str = "") -> WrongInput:
    """Return a file whose line with ``@`` is a key with a value."""
    line = text[: text.index("@")].count("\n") + 1
    return WrongInput(file, text.replace("@", f"{key} = {value}"), line, shown or key, read)


def _service(path: Path) -> object:
    return resolve("http:service.toml", aliases={}, context=ModelContext(root=path.parent))


def _project(path: Path) -> object:
    return read_project_settings(path.parent, path.parent)


def _overrides(path: Path) -> object:
    ThresholdOverrides(path.parent, path.parent).resolve()
    return None


def _aliases(path: Path) -> object:
    return read_aliases(path.parent)


def _table_of(good: Mapping[str, str], key: str, head: str = "") -> str:
    """Return lines of the good values, with ``@`` in place of the key or at the end."""
    keys = dict.fromkeys([*good, key])
    return head + "".join("@\n" if name == key else f"{name} = {good[name]}\n" for name in keys)


_TOOL = "[tool.other]\nrate = 3\n\n[tool.pytest-fairness.{}]\n@\n"


def _recordings() -> Iterator[WrongInput]:
    """Yield files with a wrong line of recorded answers."""

    def read(path: Path) -> object:
        return asyncio.run(
            resolve("replay:r.jsonl", aliases={}, context=ModelContext(root=path.parent)).answer(Prompt("Hi"), 0)
        )

    good = '{"prompt": "Hi", "text": "a"}\n\n'
    for key, values in REPLAY.items():
        for value in values:
            fields = {"prompt": '"Hi"', "text": '"a"'} | {key: value}
            line = "{" + ", ".join(f'"{name}": {content}' for name, content in fields.items()) + "}\n"
            yield WrongInput("r.jsonl", good + line, 3, key.removesuffix("s") if key == "actions" else key, read)
    for likelihoods in LIKELIHOODS:
        line = f'{{"prompt": "Hi", {likelihoods}}}\n'
        yield WrongInput("r.jsonl", good + line, 3, likelihoods.split('"')[1], read)


def _settings() -> Iterator[WrongInput]:
    """Yield files with a wrong value of a key of this plugin."""
    for table, wrong in (
        ("assumptions", ASSUMPTIONS),
        ("prices", {"mini": PRICES}),
        ("data", {"hiring": DATA}),
        ("owners", {"hiring": ("3", '""', '"a\\nb"')}),
    ):
        for key, values in wrong.items():
            for value in values:
                yield _lines("pyproject.toml", _TOOL.format(table), key, value, _project)
    tool = "[tool.other]\na = 1\n[tool.pytest-fairness]\n@\n"
    for key, value in (
        *((key, "3") for key in ("evidence", "prices", "assumptions", "data", "owners", "retention")),
        ("evidence", "[]"), ("evidence", '""'), ("retention", '"10y"'), ("retention", '""'),
    ):  # fmt: skip
        yield _lines("pyproject.toml", tool, key, value, _project)
    for key, value in (("tresholds", "{}"), ("thresholds", "3")):
        yield _lines("pyproject.toml", tool, key, value, _overrides)
    yield _lines("pyproject.toml", _TOOL.format("thresholds"), '"hiring::test_a"', "3", _overrides, "hiring::test_a")
    for key, values in THRESHOLD.items():
        for value in values:
            yield _lines("pyproject.toml", _TOOL.format('thresholds."hiring::test_a"'), key, value, _overrides)


def _models() -> Iterator[WrongInput]:
    """Yield files with a wrong alias of a model, and wrong names."""
    for value in ALIASES:
        yield _lines("pyproject.toml", _TOOL.format("models"), "prod", value, _aliases)
    for alias in ('"a:b"', '"a?b"', '" a"', '"a(b)"', '"a/b"', '""'):
        shown = f"model alias {alias}".replace('"', "'")
        yield _lines("pyproject.toml", _TOOL.format("models"), alias, '"openai:x"', _aliases, shown)
    for text in PARAMETERS:

        def read(_: Path, text: str = text) -> object:
            return resolve(f"openai:x?{text}", aliases={}, context=ModelContext(environment={"OPENAI_API_KEY": "k"}))

        yield WrongInput("name", f"openai:x?{text}", 0, text.partition("=")[0], read)


def _tables() -> Iterator[WrongInput]:
    """Yield files whose records have a wrong or a missing key."""
    for file, head, good, wrong, read in (
        ("service.toml", "# a service\n\n", _SERVICE, SERVICE, _service),
        ("fairness-accepted.toml", "# decisions\n\n[[accepted]]\n", ACCEPTED, WRONG_ACCEPTED, read_acceptances),
        ("evidence.toml", "[[clause]]\n", CLAUSE, WRONG_CLAUSE, read_clauses),
    ):
        for key, values in wrong.items():
            for value in values:
                yield _lines(file, _table_of(good, key, head), key, value, read)
        for key in good:
            text = head + "".join(f"{name} = {value}\n" for name, value in good.items() if name != key)
            if file != "service.toml":
                yield WrongInput(file, text, head.count("\n"), key, read)
            elif key != "answer":
                yield WrongInput(file, text, 1, key, read)


def files() -> Iterator[WrongInput]:
    """Yield all of them."""
    yield from _tables()
    yield from _settings()
    yield from _models()
    yield from _recordings()
    for line in YAML:
        text = f"{YAML_GOOD}{line}\n"
        yield WrongInput("pay.probe.yaml", text, text.count("\n"), line.partition(":")[0], read_probes)
