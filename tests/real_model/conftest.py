"""A real language model, SmolLM2 of 135 million parameters, in this process and behind llama.cpp's server.

Its package is installed for the tests; where it is missing they are skipped, and in CI they fail.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.helpers.llama_server import llama_server, missing


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    if reason := missing():
        if "PYTEST_FAIRNESS_NO_SKIP" in os.environ:
            pytest.fail(reason)
        pytest.skip(reason)


@pytest.fixture(scope="module")
def server(_installed: None) -> Iterator[str]:
    """Yield the address of the server, in a process of its own."""
    with llama_server() as url:
        yield url
