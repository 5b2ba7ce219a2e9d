"""The registry: providers of ours and of third parties, and parameters."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.core import extensions
from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.protocols import Model
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.names import ModelName

Make = Callable[..., Model]


def test_unknown_provider_lists_similar_ones(make: Make) -> None:
    with pytest.raises(
        FairnessError,
        match=r"is called 'opnai'; did you mean 'openai' or 'openai-agents' or 'xai'\? Known: anthropic, .*, xai$",
    ):
        make("opnai:gpt-5-mini")


@pytest.mark.parametrize("name", ["openai:x", "anthropic:x", "transformers:x", "simulated:x"])
def test_unknown_parameter_lists_similar_ones(make: Make, name: str) -> None:
    with pytest.raises(FairnessError, match="has no parameter 'sead'; "):
        make(f"{name}?sead=1")


@pytest.mark.parametrize("value", ["hot", "-1", "true"])
def test_parameter_out_of_range_names_value_and_rule(make: Make, value: str) -> None:
    with pytest.raises(FairnessError, match=r"model openai:x: parameter temperature is .*: it must"):
        make(f"openai:x?temperature={value}")


def test_key_in_a_name_is_refused_and_not_repeated(make: Make) -> None:
    with pytest.raises(FairnessError, match="keys come from the environment only") as caught:
        make("openai:x?api_key=sk-abcdefghijklmnop")
    assert "abcdefgh" not in str(caught.value)


class _Toy:
    local = True

    def __init__(self, name: ModelName, context: ModelContext) -> None:
        self.name = self.key = name.text

    async def answer(self, prompt: Any, repetition: int) -> Any: ...
    async def close(self) -> None: ...


class _Broken:
    def __init__(self, *_: object) -> None:
        raise KeyError("weights")


_NO_CLASS = 3


def _register(monkeypatch: pytest.MonkeyPatch, *entries: tuple[str, str]) -> None:
    points = metadata.EntryPoints(
        metadata.EntryPoint(name=name, value=value, group=extensions.MODELS.group) for name, value in entries
    )
    monkeypatch.setattr(extensions, "entry_points", lambda group: points.select(group=group))


def test_third_party_registers_by_an_entry_point(monkeypatch: pytest.MonkeyPatch, make: Make) -> None:
    _register(monkeypatch, ("toy", f"{__name__}:_Toy"), ("toy", f"{__name__}:_Toy"))
    assert make("toy:x?any=1").name == "toy:x?any=1"


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([("toy", "one:Toy"), ("toy", "two:Toy")], "'toy' is registered by .*one:Toy.* and .*two:Toy"),
        ([("toy", "no_such_module:Toy")], "model provider 'toy' .* cannot be loaded: ModuleNotFoundError"),
        ([("toy", f"{__name__}:_Absent")], "cannot be loaded: AttributeError"),
        ([("toy", f"{__name__}:_Broken")], "model toy:x cannot be made: KeyError: 'weights'"),
        ([("toy", f"{__name__}:_NO_CLASS")], "is a int: it must be a class or a function"),
        ([("toy", f"{__name__}:_register")], "cannot be made: TypeError|which is no model"),
        ([("toy", "builtins:print")], "made a NoneType, which is no model"),
        ([("teddy", "one:Toy")], "no model provider is called 'toy'; .*teddy"),
    ],
)
def test_broken_registration_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, make: Make, entries: list[tuple[str, str]], says: str
) -> None:
    _register(monkeypatch, *entries)
    with pytest.raises(FairnessError, match=says) as caught:
        make("toy:x")
    assert "\n" not in str(caught.value)


def test_resolving_models_imports_the_standard_library_only() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "from pytest_fairness.models.registry import resolve\n"
        "from pytest_fairness.models.context import ModelContext\n"
        "for name in ('openai:x', 'anthropic:x', 'transformers:x', 'simulated:x'):\n"
        "    resolve(name, aliases={}, context=ModelContext())\n"
        "import pytest_fairness.models.callable_model, pytest_fairness.models.replay, pytest_fairness.models.env_file\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names) - {'pytest_fairness'}))\n"
    )
    root = Path(__file__).parents[2]
    process = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"
