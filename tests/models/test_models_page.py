"""The page on models names every parameter, and every name on any page can be asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.local import transformers
from pytest_fairness.models import replay, simulated
from pytest_fairness.models.anthropic import AnthropicModel
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.names import ModelName
from pytest_fairness.models.openai import OpenAIModel
from pytest_fairness.models.registry import resolve

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "models.md").read_text(encoding="utf-8")
NAMES = sorted(
    {
        name
        for page in (DOCS.parent / "README.md", *DOCS.rglob("*.md"))
        for name in re.findall(r"\b(?:openai|anthropic|simulated):[\w./-]+(?:\?[^\s`\"'|]*)?", page.read_text("utf-8"))
    }
)
REASONING = re.compile(r"gpt-5|o\d")
"""OpenAI's models that refuse these parameters."""


def section(title: str) -> str:
    _, _, rest = PAGE.partition(f"## {title}\n")
    return rest.partition("\n## ")[0]


@pytest.mark.parametrize(
    ("title", "parameters"),
    [
        ("`openai:NAME`", {*OpenAIModel.decoding, *OpenAIModel.transport} - {*AnthropicModel.transport}),
        ("`anthropic:NAME`", AnthropicModel.decoding),
        ("Servers, keys and limits of both", AnthropicModel.transport),
        ("`transformers:NAME`", {**transformers._DECODING, **transformers._WEIGHTS, **transformers._MACHINE}),
        ("`replay:FILE`", replay._FIELDS),
        ("`simulated:NAME`", {*simulated._KINDS} - {"flag_2", "flag_3"}),
    ],
)
def test_every_parameter_is_on_the_page(title: str, parameters: set[str]) -> None:
    rows = [line for line in section(title).splitlines() if line.startswith("| `")]
    documented = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert documented == set(parameters)


@pytest.mark.parametrize("text", NAMES)
def test_names_on_pages_are_accepted_by_their_providers(text: str, tmp_path: Path) -> None:
    name = ModelName.parse(text)
    if file := name.parameters.get("system"):
        prompt = tmp_path / str(file)
        prompt.parent.mkdir(exist_ok=True)
        prompt.write_text("Be brief.", encoding="utf-8")
    try:
        resolve(text, aliases={}, context=ModelContext(tmp_path))
    except FairnessError as error:
        pytest.fail(str(error))
    if name.provider == "openai" and REASONING.match(name.name):
        assert not {"temperature", "top_p", "max_tokens"} & name.parameters.keys()
