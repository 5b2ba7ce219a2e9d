"""``--fairness-lm-eval``: tests of lm-evaluation-harness's tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_fairness.benchmarks.lm_eval.task import LmEvalTask
from pytest_fairness.plugin.task_tests import SOURCE, TaskTests, free_name, group_paths


class LmEvalTests(TaskTests):
    """Hooks that add the tests of lm-evaluation-harness's tasks.

    Args:
        specs: Names of tasks, groups or tags, or YAML files, separated by commas; arguments of all of them behind a
            question mark, as in ``hellaswag,winogrande?num_fewshot=5``.
        groups: Where documents have their groups, as ``gender=about.gender``.
        thresholds: Comparisons: those that name no task are thresholds of every task.
        include: Folders with tasks of the user's own.
        folders: Where files are looked for, in order.

    Raises:
        FairnessError: A task cannot be loaded or run here, or a text cannot be read.
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
        paths = group_paths(groups, "--fairness-lm-eval-groups", example)
        source = paths.pop(SOURCE, None)
        own = [next((path for folder in folders if (path := folder / name).is_dir()), Path(name)) for name in include]
        tasks: dict[str, LmEvalTask] = {}
        for spec in (single for text in specs for single in _single_specs(text)):
            file = spec.partition("?")[0]
            root = next((folder for folder in folders if (folder / file).is_file()), folders[0])
            for name, task in LmEvalTask(spec, paths, source, own, root).load_all().items():
                task.items()  # what cannot be run is refused before anything is asked
                tasks[free_name(name, tasks)] = task
        super().__init__(tasks, thresholds)


def _single_specs(text: str) -> Iterator[str]:
    """Yield the specs of an option's value, each with its arguments."""
    names, question_mark, arguments = text.partition("?")
    yield from (f"{name.strip()}{question_mark}{arguments}" for name in names.split(",") if name.strip())
