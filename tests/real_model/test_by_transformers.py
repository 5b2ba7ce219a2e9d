"""The same real model as weights in this process, from its GGUF file."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

from tests.helpers import real_answers
from tests.helpers.finished_run import run_shipped
from tests.helpers.llama_server import weights
from tests.helpers.project import Project

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module", autouse=True)
def _loaded_once(_installed: None) -> Iterator[None]:
    """Load the weights for the first run only: to read a GGUF file takes transformers half a minute."""
    import transformers

    with pytest.MonkeyPatch.context() as patch:
        for name in ("AutoTokenizer", "AutoModelForCausalLM"):
            loader = getattr(transformers, name)
            patch.setattr(loader, "from_pretrained", functools.cache(loader.from_pretrained))
        yield


def test_suites_measure_weights_in_this_process(project: Project) -> None:
    model = f"--fairness-model=transformers:{weights().parent}?max_tokens=6&batch_size=4"
    run = run_shipped(project, model, "--fairness-offline", *real_answers.FEW_SUITES)
    # The chat template of these weights has no tools: the ten attempts of the suite `agents` fail, with the reason.
    real_answers.assert_every_answer_is_graded_or_has_a_reason(run, project.store, failed=10)
    real_answers.assert_nothing_is_fair(run)
    assert "its chat template offers no tools" in run.output


def test_propensities_of_weights_are_probabilities(project: Project) -> None:
    model = f"--fairness-model=transformers:{weights()}"
    run = run_shipped(project, model, "--fairness-propensity", "--fairness-offline", *real_answers.REFERRALS)
    real_answers.assert_every_answer_is_graded_or_has_a_reason(run, project.store)
    real_answers.assert_propensities_are_probabilities(project.store)
    real_answers.assert_nothing_is_fair(run)
