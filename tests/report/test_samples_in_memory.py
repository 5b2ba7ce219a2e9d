"""The page made of the samples that a process still holds is the one that is made of the store, without secrets."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pytest_fairness.core.attempts import Grade
from pytest_fairness.core.items import Prompt
from pytest_fairness.core.keys import attempt_key
from pytest_fairness.core.results import RunResult, RunResults
from pytest_fairness.core.secrets import redacted
from pytest_fairness.report.html.attempts import pack_attempts
from pytest_fairness.report.load_run import read_view
from pytest_fairness.store.samples import StoredSample
from pytest_fairness.store.store import Store
from tests.helpers.attempts_page import attempt, sample

KEY = "sk-abcdefghijklmnop1234"


def packed(store: Store, in_memory: Mapping[tuple[str, ...], StoredSample]) -> Any:
    """Return what the page holds of the attempts, unpacked."""
    view = read_view(store, "run", partial(redacted, secrets=()), in_memory)
    chunks = pack_attempts(view.samples, view.results).chunks
    return [json.loads(zlib.decompress(base64.b64decode(chunk), -15)) for chunk in chunks]


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("yes", id="text"),
        pytest.param(0.25, id="number"),
        pytest.param(KEY, id="key"),
        pytest.param(["no", KEY], id="list"),
        pytest.param(("no", KEY), id="tuple"),
        pytest.param({KEY}, id="set"),
        pytest.param({"why": (KEY, 1), 2: None}, id="mapping"),
        pytest.param(Path(KEY), id="object"),
    ],
)
def test_page_is_that_of_the_store(tmp_path: Path, value: object) -> None:
    prompt = Prompt(
        f"Is {KEY} yours?", groups={"gender": f"woman {KEY}"}, metadata={"about": (KEY,)}, tools=[{"name": "act"}]
    )
    graded = attempt(f"No, {KEY} is.", prompt=prompt, grades={"advance": Grade(value, detail=KEY)})
    stored = replace(graded.attempt, key=attempt_key("simulated:fair", prompt.digest, 0))
    of_this_process = replace(sample([replace(graded, attempt=stored)]), graders={"advance": None})
    store = Store(tmp_path / "store.sqlite")
    store.runs.start("run")
    store.runs.save_sample("run", of_this_process)
    store.save_answers(of_this_process, "run")
    results = RunResults(run=RunResult(id="run", started="2026-01-01T00:00:00+00:00"))
    store.runs.save_document("run", {"results": results.to_json(), "cards": {}})
    key = of_this_process.probe, of_this_process.model_key
    attempts = packed(store, {key: of_this_process})
    assert attempts == packed(store, {})
    assert KEY not in json.dumps(attempts)
    assert "[redacted]" in json.dumps(attempts)
    store.close()
