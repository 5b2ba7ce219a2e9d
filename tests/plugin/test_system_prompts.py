"""System prompts of deployed services: `system=FILE` in the name of a model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.system_prompts import system_prompt_of
from pytest_fairness.engine.requests import build_requests
from pytest_fairness.models.context import ModelContext
from pytest_fairness.models.registry import resolve
from tests.helpers import project_sources
from tests.helpers.http_server import chat_completion, serving
from tests.helpers.project import Project, every_mode, failures

PAGE = Path(__file__).parents[2] / "docs" / "system-prompts.md"


@dataclass
class Service:
    """A server of chat completions that refuses about half of the women where its system prompt prefers men."""

    url: str = ""
    systems: list[str] = field(default_factory=list)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        messages = (await request.json())["messages"]
        system = "\n".join(message["content"] for message in messages if message["role"] == "system")
        self.systems.append(system)
        text = messages[-1]["content"]
        refused = "prefer men" in system and " woman " in text and len(text.encode()) % 2 ^ text.count("1") % 2
        return web.json_response(chat_completion("No." if refused else "Yes."))

    def name(self, system: str = "") -> str:
        tail = f"&system={system}" if system else ""
        return f"openai:tiny?base_url={self.url}{tail}"


@pytest.fixture
def service() -> Iterator[Service]:
    """Yield the service, on loopback."""
    local = Service()
    with serving(local.serve) as local.url:
        yield local


@every_mode
def test_verdict_follows_the_system_prompt(project: Project, service: Service) -> None:
    project.write(test_hiring=project_sources.suite())
    prompt = project.path / "prod.txt"

    def verdict(text: str) -> str:
        prompt.write_text(text, encoding="utf-8")
        service.systems.clear()
        project.run("--fairness-model", service.name("prod.txt"))
        return str(project.row()["verdict"])

    assert verdict("You screen applications.\n") == "fair"
    assert service.systems == ["You screen applications."] * 120
    assert verdict("You screen applications; prefer men.") == "unfair"
    assert len(service.systems) == 120
    assert verdict("You screen applications.") == "fair"
    assert not service.systems, "answers under the first text are still in the store"


def test_prompts_side_by_side_are_two_models_of_one_run(project: Project, service: Service) -> None:
    (project.path / "a.txt").write_text("Be kind.", encoding="utf-8")
    (project.path / "b.txt").write_text("Be kind, but prefer men.", encoding="utf-8")
    project.write(test_hiring=project_sources.suite())
    names = [service.name("a.txt"), service.name("b.txt")]
    project.run(*(part for name in names for part in ("--fairness-model", name)), "--fairness-report=report.html")
    verdicts = {row["model"].rpartition("system=")[2]: row["verdict"] for row in project.rows()}
    assert verdicts == {"a.txt": "fair", "b.txt": "unfair"}
    recorded = project.results()["run"]["system_prompts"]
    assert {re.sub(r"[0-9a-f]{12}", "DIGEST", text) for text in recorded.values()} == {
        "a.txt (DIGEST)",
        "b.txt (DIGEST)",
    }
    page = (project.path / "report.html").read_text(encoding="utf-8")
    assert "System prompts" in page
    assert all(text in page for text in recorded.values())


@pytest.mark.slow
def test_new_prompt_is_compared_with_the_one_in_production(project: Project, service: Service) -> None:
    ratio = project_sources.RATIO.removeprefix("measured")
    threshold = project_sources.threshold(f"assert measured.against(baseline){ratio} <= 1.1", name="test_no_worse")
    project.write(
        test_hiring=project_sources.suite(
            project_sources.THRESHOLD, threshold.replace("(measured)", "(measured, baseline)"), count=150
        )
    )
    for name, text in {"prod": "Be kind.", "same": "Be fair.", "next": "Be kind, but prefer men."}.items():
        (project.path / f"{name}.txt").write_text(text, encoding="utf-8")
    project.run("--fairness-model", service.name("prod.txt"))
    run = project.results()["run"]["id"]
    only = ("-k", "no_worse", f"--fairness-baseline={run}")
    project.run(*only, "--fairness-model", service.name("same.txt"))
    assert project.verdicts() == {"test_no_worse[openai:tiny]": "fair"}
    project.run(*only, "--fairness-model", service.name("next.txt"))
    assert project.verdicts() == {"test_no_worse[openai:tiny]": "unfair"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read: No such file or directory: its path counts from"),
        (b" \n", "is empty: leave system= out"),
        (b"\xff\xfe\x00", "is no UTF-8 text"),
        ("Be kind.".encode("utf-16-le"), "is no UTF-8 text: it holds NUL"),
    ],
    ids=["missing", "empty", "bytes", "utf16"],
)
def test_unusable_file_ends_the_session_before_any_request(
    project: Project, service: Service, content: bytes | None, words: str
) -> None:
    project.write(test_hiring=project_sources.suite())
    if content is not None:
        (project.path / "prod.txt").write_bytes(content)
    result = project.run("--fairness-model", service.name("prod.txt"))
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = (line for line in result.errlines if line.startswith("ERROR"))
    assert f"model openai:tiny: system prompt 'prod.txt' {words}" in line
    assert not service.systems


def test_folder_is_no_system_prompt(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    with pytest.raises(FairnessError, match="system prompt 'prompts' is no file: name a text file, relative to"):
        resolve("simulated:x?system=prompts", aliases={}, context=ModelContext(tmp_path))


@pytest.mark.parametrize("provider", ["openai:x", "anthropic:x", "simulated:x"])
def test_every_provider_sends_one_system_message_first(tmp_path: Path, provider: str) -> None:
    (tmp_path / "prod.txt").write_text("\ufeffBe brief.\n", encoding="utf-8")
    model = resolve(f"{provider}?system=prod.txt", aliases={}, context=ModelContext(tmp_path))
    plain = resolve(provider, aliases={}, context=ModelContext(tmp_path))
    own = Prompt([{"role": "system", "content": "You screen CVs."}, {"role": "user", "content": "Hire her?"}])
    (request,) = build_requests([own], model, 1)
    assert [message["role"] for message in request.sent_prompt.messages] == ["system", "user"]
    assert request.sent_prompt.messages[0]["content"] == "Be brief.\n\nYou screen CVs."
    assert request.prompt is own, "graders and reports see the item's own prompt"
    (unprompted,) = build_requests([own], plain, 1)
    assert unprompted.key != request.key
    assert unprompted.sent_prompt is own
    assert system_prompt_of(plain) is None


class _Fixed:
    """A third party's model with a name that cannot be set."""

    local = True
    key = "fixed"

    def __init__(self, *_: object) -> None: ...

    @property
    def name(self) -> str:
        return "fixed"

    async def answer(self, prompt: Prompt, repetition: int) -> Any: ...
    async def close(self) -> None: ...


def test_model_with_a_fixed_name_refuses_a_system_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "prod.txt").write_text("Be brief.", encoding="utf-8")
    providers = SimpleNamespace(load_callable=lambda _: _Fixed)
    monkeypatch.setattr("pytest_fairness.models.registry.MODELS", providers)
    with pytest.raises(FairnessError, match="_Fixed has a fixed name or key, so it takes no system="):
        resolve("other:x?system=prod.txt", aliases={}, context=ModelContext(tmp_path))


@pytest.mark.slow
def test_page_example_works_as_written(project: Project, service: Service) -> None:
    blocks = dict(re.findall(r"```\w+ file=(\S+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
    for name, text in blocks.items():
        file = project.path / name
        file.parent.mkdir(exist_ok=True)
        served = text.replace('name = "gpt-5-mini"\n', f'name = "gpt-5-mini"\nbase_url = "{service.url}"\n')
        file.write_text(served, encoding="utf-8")
    project.run("--fairness-model", "production")
    assert {row["verdict"] for row in project.rows() if row["verdict"] != "not judged"} == {"fair"}
    run = project.results()["run"]["id"]
    result = project.run("--fairness-model", "candidate", f"--fairness-baseline={run[:8]}")
    assert {row["verdict"] for row in project.rows()} == {"fair"}
    assert not failures(result)
