"""Names, aliases and environment files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.protocols import Model
from pytest_fairness.models.aliases import follow, naming_alias, read_aliases
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.env_file import read_environment
from pytest_fairness.models.names import ModelName
from pytest_fairness.models.registry import resolve

Make = Callable[..., Model]


@pytest.mark.parametrize(
    ("text", "provider", "name", "parameters"),
    [
        ("openai:gpt-5-mini", "openai", "gpt-5-mini", {}),
        ("openai:llama3:8b?seed=7", "openai", "llama3:8b", {"seed": 7}),
        (
            "transformers:sshleifer/tiny-gpt2?temperature=0.5",
            "transformers",
            "sshleifer/tiny-gpt2",
            {"temperature": 0.5},
        ),
        ("simulated:x?by=gender&of=female&flag=true", "simulated", "x", {"by": "gender", "flag": True, "of": "female"}),
        ("a:b?x=null&y=NaN&z=1e999&v=007", "a", "b", {"v": "007", "x": "null", "y": "NaN", "z": "1e999"}),
        ("a:b?stop=x%26y%20z", "a", "b", {"stop": "x&y z"}),
        ("a:b?x=%2526&y=p%40q&z=100%", "a", "b", {"x": "%26", "y": "p%40q", "z": "100%"}),
        (" replay:a/b c.jsonl ", "replay", "a/b c.jsonl", {}),
        ('a:b?extra={"k":1}', "a", "b", {"extra": '{"k":1}'}),
        ('a:b?extra={"k": {"z": 1, "a": 2}, "b":0.10}', "a", "b", {"extra": '{"b":0.1,"k":{"z":1,"a":2}}'}),
    ],
)
def test_name_is_parsed(text: str, provider: str, name: str, parameters: dict[str, Any]) -> None:
    parsed = ModelName.parse(text)
    assert (parsed.provider, parsed.name, dict(parsed.parameters)) == (provider, name, parameters)
    assert ModelName.parse(parsed.text) == parsed


def test_canonical_text_is_the_same_for_equal_names() -> None:
    one, two = ModelName.parse("a:b?y=1.0&x=0.70"), ModelName.parse("a:b?x=0.7&y=1")
    assert one.text == two.text == "a:b?x=0.7&y=1"
    assert one == two
    assert hash(one) == hash(two)


values = st.one_of(
    st.sampled_from(
        ["true", "-0", "1.0", "1e5", "1e-7", "0.1e1", "null", "NaN", "%26", "%2526", "12345678901234567890.0"]
    ),
    st.floats().map(repr),
    st.text('abcXYZ026 %#=?/:@.-{}"[]ü\t', min_size=1).filter(str.strip),
)


@given(st.dictionaries(st.text("abc_", min_size=1), values, min_size=1, max_size=4))
def test_any_canonical_text_reads_back(parameters: dict[str, str]) -> None:
    name = ModelName.parse("a:b?" + "&".join(f"{key}={value}" for key, value in parameters.items()))
    again = ModelName.parse(name.text)
    assert again.text == name.text
    if "@" not in name.text + "".join(parameters.values()):  # a password is taken out of the text
        assert again == name


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("gpt-5-mini", "model 'gpt-5-mini' is not of the form provider:NAME"),
        ("", "model '' is not of the form"),
        ("openai:", "'openai:' is not of the form"),
        (":x", "':x' is not"),
        ("a b:x", "'a b:x' is not"),
        ("openai:x?", "no parameter after its '?'"),
        ("openai:x?seed", "parameter 'seed' without a value: write seed=VALUE"),
        ("openai:x?seed=", "parameter 'seed' without a value"),
        ("openai:x?seed=1&seed=2", "parameter 'seed' twice"),
        ("openai:x?a=1&&b=2", "parameter '' without a value"),
    ],
)
def test_malformed_name_is_refused_in_one_line(text: str, says: str) -> None:
    with pytest.raises(FairnessError) as caught:
        ModelName.parse(text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("openai:llama3:8b?seed=1", "openai:llama3:8b"),
        ("openai:a::b[c]", "openai:a:b_c_"),
        ("replay:C:\\data\\größe.jsonl", "replay:C:/data/gr_e.jsonl"),
    ],
)
def test_id_fits_a_test_id(text: str, expected: str) -> None:
    name = ModelName.parse(text)
    assert name.id == expected
    assert name.id.isascii()


def test_password_in_a_url_is_never_shown() -> None:
    name = ModelName.parse("openai:x?base_url=http://me:p@hunter2@host/v1")
    assert name.parameters["base_url"] == "http://me:p@hunter2@host/v1"
    assert "hunter2" not in name.text + repr(name) + str(name) + name.id


# aliases


def _project(root: Path, text: str) -> Path:
    (root / "pyproject.toml").write_text(text, encoding="utf-8")
    return root


def test_aliases_are_read_and_followed(tmp_path: Path) -> None:
    assert read_aliases(tmp_path) == {}
    _project(tmp_path, '[tool.pytest-fairness.models]\nmini = "openai:gpt-5-mini?seed=1"\nsmall = "mini"\n')
    aliases = read_aliases(tmp_path)
    assert follow("small", aliases) == "openai:gpt-5-mini?seed=1"
    model = resolve("small", aliases=aliases, context=ModelContext())
    assert model.name == "openai:gpt-5-mini?seed=1"


def test_table_of_an_alias_is_the_name_with_its_parameters(tmp_path: Path) -> None:
    text = """
[tool.pytest-fairness.prices]
prod = {input = 1, output = 2}

[tool.pytest-fairness.models.prod]
provider = "openai"
name = "gpt-5-mini"
temperature = 0.5
seed = 7
stop = ["a", "b & c"]
extra = {top_k = 5}

[tool.pytest-fairness.models]
live = "prod"
"""
    aliases = read_aliases(_project(tmp_path, text))
    model = resolve("live", aliases=aliases, context=ModelContext())
    same = 'openai:gpt-5-mini?temperature=0.5&seed=7&stop=["a","b%20%26%20c"]&extra={"top_k":5}'
    assert model.name == resolve(same, aliases={}, context=ModelContext()).name
    with pytest.raises(FairnessError, match=r"pyproject\.toml:5: .*has no parameter 'temprature'"):
        aliases = read_aliases(_project(tmp_path, text.replace("temperature", "temprature")))
        with naming_alias(tmp_path, "prod", aliases):
            resolve("prod", aliases=aliases, context=ModelContext())


def test_unknown_alias_lists_similar_ones() -> None:
    with pytest.raises(FairnessError, match=r"'smal' is no alias .* did you mean 'small'"):
        follow("smal", {"small": "openai:x"})
    with pytest.raises(FairnessError, match=r"'prod' is no alias .* the pyproject.toml of pytest's rootdir defines no"):
        follow("prod", {})


def test_circular_aliases_are_refused() -> None:
    with pytest.raises(FairnessError, match="circle: a -> b -> a"):
        follow("a", {"a": "b", "b": "a"})


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("[tool.pytest-fairness.models]\n\nmini = openai\n", 3, "not valid TOML"),
        ("[tool.pytest-fairness.models]\n\nmini = 3\n", 3, "model alias 'mini' is 3"),
        ('[tool.pytest-fairness.models]\n"a:b" = "openai:x"\n', 2, "would hide a full name"),
        ("[tool.pytest-fairness]\nmodels = 3\n", 2, "'models' is no table"),
        ('[tool.pytest-fairness.models.mini]\nname = "x"\n', 1, "'mini' has no provider: write provider = \"openai\""),
        ('[tool.pytest-fairness.models.mini]\nprovider = "openai"\nname = 5\n', 1, "'mini' has name = 5"),
        ('[tool.pytest-fairness.models.mini]\nprovider = "a:b"\nname = "x"\n', 1, "provider is 'a:b'"),
        ('[tool.pytest-fairness.models.mini]\nprovider = "openai"\nname = "x?y"\n', 1, "name is 'x?y'"),
        (
            '[tool.pytest-fairness.models.mini]\nprovider = "openai"\nname = "x"\nseed = 2020-01-01\n',
            1,
            "seed is datetime.date(2020, 1, 1): it must be a text, a number",
        ),
        ("tool = 3\n", 1, "'tool' is no table"),
    ],
)
def test_malformed_aliases_name_file_and_line(tmp_path: Path, text: str, line: int, says: str) -> None:
    with pytest.raises(FairnessError) as caught:
        read_aliases(_project(tmp_path, text))
    assert str(caught.value).startswith(f"{tmp_path / 'pyproject.toml'}:{line}: ")
    assert says in str(caught.value)


# environment


def test_environment_file_is_read_and_the_process_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.environ", {"A": "process"})
    file = tmp_path / "keys.env"
    file.write_text(
        '\ufeff# a comment\nA=1\nexport B=\'two # words\'\nC="line\\nnext \\"q\\"" # comment\r\n'
        "D = plain value # comment\nE=\nF=a#b\nG=http://h/?a=b\n\n",
        encoding="utf-8",
    )
    values = read_environment(file)
    assert values == {
        "A": "process",
        "B": "two # words",
        "C": 'line\nnext "q"',
        "D": "plain value",
        "E": "",
        "F": "a#b",
        "G": "http://h/?a=b",
    }


def test_missing_environment_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match=r"absent\.env cannot be read: No such file"):
        read_environment(tmp_path / "absent.env")


def test_malformed_environment_file_shows_its_line_but_no_value(tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("A=1\nsk-topsecret\n")
    with pytest.raises(FairnessError) as caught:
        read_environment(file)
    assert f"{file}:2: " in str(caught.value)
    assert "topsecret" not in str(caught.value)
