"""``--fairness-lm-eval``: tests of lm-evaluation-harness's tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from pytest_fairness.harnesses.lm_eval.task import LmEvalTask
from pytest_fairness.harnesses.task_tests import SOURCE, TaskTests, parse_group_paths, unique_name


class LmEvalTests(TaskTests):
    """Hooks that add the tests of lm-evaluation-harness's tasks.

    Args:
        specs: Names of tasks, groups or tags, or YAML files, separated by commas; arguments for all of them after a
            question mark, as in ``hellaswag,winogrande?num_fewshot=5``.
        groups: The fields of documents that hold their groups, as ``gender=about.gender``.
        thresholds: Comparisons: those that name no task are thresholds of every task.
        include: Folders with the user's own tasks.
        folders: The folders that are searched for files, in order.

    Raises:
        FairnessError: A task cannot be loaded or run, or an option is malformed.
    """

    suite, harness = "lm_eval", "lm-eval"

    def __init__(
        self,
        specs: Sequence[str],
        groups: Sequence[str],
        thresholds: Sequence[str],
        include: Sequence[str],
        folders: Sequence[Path],
    ) -> None:
        example = "write NAME=FIELD, as in gender=about.gender"
        paths = parse_group_paths(groups, "--fairness-lm-eval-groups", example)
        source = paths.pop(SOURCE, None)
        task_folders = [
            next((path for folder in folders if (path := folder / name).is_dir()), Path(name)) for name in include
        ]
        tasks: dict[str, LmEvalTask] = {}
        for spec in (spec for text in specs for spec in _split_specs(text)):
            file = spec.partition("?")[0]
            root = next((folder for folder in folders if (folder / file).is_file()), folders[0])
            for name, task in LmEvalTask(spec, paths, source, task_folders, root).load_all().items():
                task.items()  # refuse what cannot be run before the first request
                tasks[unique_name(name, tasks)] = task
        super().__init__(tasks, thresholds)


def _split_specs(text: str) -> Iterator[str]:
    """Yield the specs of an option's value, each with its arguments."""
    names, question_mark, arguments = text.partition("?")
    yield from (f"{name.strip()}{question_mark}{arguments}" for name in names.split(",") if name.strip())


def make_lm_eval_tests(option: Callable[[str], Any], folders: Sequence[Path]) -> LmEvalTests:
    """Return the hooks of ``--fairness-lm-eval``, the plugin ``lm-eval``.

    Args:
        option: A function from the name of an option to its raw value, None if it is not given.
        folders: The folders that are searched for files, in order.

    Raises:
        FairnessError: As of `LmEvalTests`.
    """
    groups, thresholds, include = (option(f"lm-eval-{name}") or () for name in ("groups", "threshold", "include"))
    return LmEvalTests(option("lm-eval"), groups, thresholds, include, folders)
