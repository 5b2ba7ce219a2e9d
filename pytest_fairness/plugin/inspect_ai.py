"""``--fairness-inspect``: tests of inspect_ai's tasks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_fairness.benchmarks.inspect_ai.task import InspectTask
from pytest_fairness.plugin.task_tests import SOURCE, TaskTests, parse_group_paths, unique_name


class InspectTests(TaskTests):
    """Hooks that add the tests of inspect_ai's tasks.

    Args:
        specs: The tasks, as ``file.py@task?argument=value`` or ``package/task``.
        groups: The fields of samples that hold their groups, as ``gender=metadata.gender``.
        thresholds: Comparisons: those that name no task are thresholds of every task.
        folders: The folders that are searched for files, in order.

    Raises:
        FairnessError: A task cannot be loaded or run, or an option is malformed.
    """

    suite = harness = "inspect"

    def __init__(
        self, specs: Sequence[str], groups: Sequence[str], thresholds: Sequence[str], folders: Sequence[Path]
    ) -> None:
        example = "write NAME=metadata.KEY, as in gender=metadata.gender"
        paths = parse_group_paths(groups, "--fairness-inspect-groups", example)
        source = paths.pop(SOURCE, None)
        tasks: dict[str, InspectTask] = {}
        for spec in specs:
            file = spec.partition("?")[0].partition("@")[0]
            root = next((folder for folder in folders if (folder / file).is_file()), folders[0])
            task = InspectTask(spec, paths, source, root)
            tasks[unique_name(task.loaded.name, tasks)] = task
        super().__init__(tasks, thresholds)
