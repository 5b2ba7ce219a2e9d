"""Shell commands that repeat a whole run, or one test of it, in the folder where pytest was called."""

from __future__ import annotations

import posixpath
import shlex

from pytest_fairness.core.results import RunResult

_MODEL = "--fairness-model="


def command_of_run(run: RunResult) -> str:
    """Return the command of a run, from the `run` of its results; an older file holds only its options."""
    return shlex.join(["pytest", *run.tests, *run.selection, *run.command])


def command_of_test(test: str, file: str, run: RunResult, model: str | None = None) -> str:
    """Return the command of one test, by its id.

    Args:
        test: The id.
        file: The file of the test, relative to the rootdir.
        run: The `run` of its results.
        model: The only model to use; empty for one that no option names. None keeps the models of the run.

    pytest takes a file outside of the rootdir for another id, and a test that no file holds for none: such a test is
    chosen by its id among those of the whole run.
    """
    path, separator, name = test.partition("::")
    folder = run.folder
    if folder is not None and separator and path == file.replace("\\", "/"):
        chosen = [f"{posixpath.relpath(path, folder or '.')}::{name}"]
    else:
        chosen = [*run.tests, f"--fairness-test={test}"]
    options = list(run.command)
    # Ids of models that share a name have a digest, but only if all of them are given.
    if model is not None and "~" not in test.partition("[")[2].rpartition("-")[2]:
        model_options = [f"{_MODEL}{model}"] if model else []
        options = [*model_options, *(option for option in options if not option.startswith(_MODEL))]
    return shlex.join(["pytest", *chosen, *options])
