"""Servers that nobody here wrote, spoken to over HTTP: the LiteLLM proxy and ``transformers serve``.

LiteLLM pins its dependencies, so it is looked for in an environment of its own: the variable
``PYTEST_FAIRNESS_LITELLM`` names its executable, else it is taken from beside this Python, from
``.venv-litellm`` at the root of the repository, or from the PATH.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.core.attempts import Answer
from pytest_fairness.core.errors import FatalError, ModelError, PermanentError, TransientError
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.propensities import NoLikelihoodsError
from pytest_fairness.core.protocols import Model
from pytest_fairness.graders.yes_no import YesNo
from tests.models.conftest import ask_at_once

pytestmark = pytest.mark.slow

Make = Callable[..., Model]
Ask = Callable[..., Answer]

ROOT = Path(__file__).parents[2]
START = 120
"""Seconds that a server may take to start: both import much, side by side."""
KEY = "sk-a-key-of-the-test-0123456789"
KEYS = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}


def _canned(name: str, response: str) -> dict[str, Any]:
    parameters = {"model": "openai/gpt-4o-mini", "api_key": "unused", "mock_response": response, "max_retries": 0}
    return {"model_name": name, "litellm_params": parameters}


CONFIG = {
    "model_list": [
        _canned("canned", "The answer is (B). Ünïcode too."),
        _canned("org/name:8b", "Yes."),
        _canned("limited", "litellm.RateLimitError"),
        _canned("broken", "litellm.InternalServerError"),
    ],
    "general_settings": {"master_key": KEY},
    "router_settings": {"num_retries": 0, "disable_cooldowns": True},
}


@dataclass
class Live:
    """A server's process, or why there is none."""

    url: str = ""
    missing: str = ""
    process: subprocess.Popen[bytes] | None = None
    log: Path = Path()

    def ready(self, path: str) -> str:
        """Wait until it answers; the test skips where it is not installed, and fails where it does not start."""
        if self.process is None:
            pytest.skip(self.missing)
        ends = time.monotonic() + START
        while time.monotonic() < ends and self.process.poll() is None:
            try:
                with urllib.request.urlopen(self.url + path, timeout=5):  # noqa: S310
                    return self.url
            except OSError:
                time.sleep(0.2)
        pytest.fail(f"{self.process.args!r} did not start: {self.log.read_text(errors='replace')[-2000:]}")


def _litellm() -> str | None:
    path = os.environ.get("PYTEST_FAIRNESS_LITELLM")
    if path:
        return path
    folders = [Path(sys.executable).parent, *(ROOT / ".venv-litellm" / part for part in ("bin", "Scripts"))]
    return shutil.which("litellm", path=os.pathsep.join(map(str, folders))) or shutil.which("litellm")


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _start(folder: Path, arguments: list[str], **environment: str) -> Live:
    port = _free_port()
    log = folder / "log.txt"
    inherited = {name: value for name, value in os.environ.items() if not name.upper().endswith("_PROXY")}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*arguments, "--host", "127.0.0.1", "--port", str(port)],
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            env=inherited | environment,
        )
    return Live(f"http://127.0.0.1:{port}", process=process, log=log)


@pytest.fixture(scope="session")
def servers(tmp_path_factory: pytest.TempPathFactory, tiny_model: Path) -> Iterator[dict[str, Live]]:
    """Yield both servers, started at the same time."""
    folder = tmp_path_factory.mktemp("servers")
    litellm = _litellm()
    live_servers = {
        "litellm": Live(missing='the LiteLLM proxy is not installed: pip install "litellm[proxy]" in .venv-litellm'),
        "serve": Live(missing='transformers serve is not installed: pip install "transformers[serving]"'),
    }
    if litellm:
        (folder / "config.yaml").write_text(json.dumps(CONFIG), encoding="utf-8")  # JSON is YAML
        offline = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False"}
        live_servers["litellm"] = _start(
            folder, [litellm, "--config", "config.yaml", "--telemetry", "False"], **offline
        )
    if all(importlib.util.find_spec(name) for name in ("fastapi", "uvicorn", "accelerate")):
        own = tmp_path_factory.mktemp("serve")
        executable = shutil.which("transformers", path=str(Path(sys.executable).parent)) or "transformers"
        arguments = [executable, "serve", str(tiny_model), "--device", "cpu"]
        live_servers["serve"] = _start(own, arguments, HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1")
    yield live_servers
    for live in live_servers.values():
        if live.process is not None:
            live.process.terminate()
            try:
                live.process.wait(10)
            except subprocess.TimeoutExpired:
                live.process.kill()
                live.process.wait(10)


Named = Callable[..., str]


@pytest.fixture
def proxy(servers: dict[str, Live]) -> Named:
    """Return a function that names a model of the LiteLLM proxy."""
    url = servers["litellm"].ready("/health/liveliness")

    def full_name(provider: str, model: str, tail: str = "") -> str:
        path = "/v1" if provider == "openai" else ""
        return f"{provider}:{model}?base_url={url}{path}&key_env={provider.upper()}_API_KEY{tail}"

    return full_name


BOTH = pytest.mark.parametrize("provider", ["openai", "anthropic"])


@BOTH
def test_litellm_answers_over_both_protocols(proxy: Named, ask: Ask, provider: str) -> None:
    prompt = Prompt([{"role": "system", "content": "Be fair."}, {"role": "user", "content": "A or B?"}])
    tail = "&temperature=0&max_tokens=20" + ("&seed=3" if provider == "openai" else "")
    answer = ask(proxy(provider, "canned", tail), prompt, 1, environment=KEYS)
    assert answer.text == "The answer is (B). Ünïcode too."
    assert answer.finish_reason == "stop"
    assert answer.served_by == "canned"
    assert answer.usage["input"] > 0
    assert answer.usage["output"] > 0
    assert answer.latency > 0
    assert ask(proxy(provider, "org/name:8b"), environment=KEYS).text == "Yes."


@BOTH
@pytest.mark.parametrize(
    ("model", "kind", "says"),
    [
        ("limited", TransientError, "limits the rate (429: "),
        ("broken", TransientError, "failed for now (500: "),
        ("absent", PermanentError, "Invalid model name"),
    ],
)
def test_litellm_errors_are_distinguished(
    proxy: Named, ask: Ask, provider: str, model: str, kind: type[ModelError], says: str
) -> None:
    with pytest.raises(kind) as caught:
        ask(proxy(provider, model), environment=KEYS)
    assert says in str(caught.value)
    assert KEY not in str(caught.value)
    if isinstance(caught.value, TransientError):
        assert caught.value.rate_limited == (model == "limited")


@BOTH
def test_litellm_refuses_a_wrong_key(proxy: Named, ask: Ask, provider: str) -> None:
    """Accept status 400: without a database LiteLLM sends it where other servers send 401."""
    wrong = "sk-a-wrong-key-0123456789"
    with pytest.raises(FatalError, match=r"refused the key \(40[01]: ") as caught:
        ask(proxy(provider, "canned"), environment=dict.fromkeys(KEYS, wrong))
    assert wrong not in str(caught.value)


@BOTH
def test_litellm_answers_many_concurrent_requests(proxy: Named, make: Make, provider: str) -> None:
    model = make(proxy(provider, "canned"), environment=KEYS, concurrency=32)

    answers = ask_at_once(model, ((Prompt(f"q{i}"), 0) for i in range(40)))
    assert {answer.text for answer in answers} == {"The answer is (B). Ünïcode too."}


def test_transformers_serve_answers_like_the_local_weights(
    servers: dict[str, Live], ask: Ask, tiny_model: Path
) -> None:
    """Two roads to the same weights: through a foreign server, and loaded by ourselves."""
    url = servers["serve"].ready("/health")
    served = ask(f"openai:{tiny_model}?base_url={url}/v1&max_tokens=8&temperature=0", "Who is it?")
    local = ask(f"transformers:{tiny_model}?max_tokens=8", "Who is it?", offline=True)
    assert served.text.strip() == local.text
    assert served.finish_reason == local.finish_reason
    assert {kind: served.usage[kind] for kind in local.usage} == dict(local.usage)


def test_transformers_serve_refuses_another_model(servers: dict[str, Live], ask: Ask) -> None:
    url = servers["serve"].ready("/health")
    with pytest.raises(PermanentError, match=r"refused the request \(400: Server is pinned to"):
        ask(f"openai:absent?base_url={url}/v1")


def test_transformers_serve_without_log_probabilities_is_refused(
    servers: dict[str, Live], make: Make, tiny_model: Path
) -> None:
    """Check that a reply without log probabilities, which the server ignores, is not taken for a probability."""
    model: Any = make(f"openai:{tiny_model}?base_url={servers['serve'].ready('/health')}/v1")
    question = YesNo(propensity=True).continuations(Prompt("Hire her?"))

    async def once() -> Answer:
        try:
            answer: Answer = await model.likelihoods(Prompt("Hire her?"), question)
            return answer
        finally:
            await model.close()

    with pytest.raises(NoLikelihoodsError, match=r"log-probabilities.*: measure drawn answers instead"):
        asyncio.run(once())
