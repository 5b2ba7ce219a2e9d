"""``--fairness-inspect``: tests of inspect_ai's tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pytest_fairness.harnesses.inspect_ai.task import InspectTask
from pytest_fairness.harnesses.task_tests import SOURCE, TaskTests, parse_group_paths, unique_name


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


def make_inspect_tests(option: Callable[[str], Any], folders: Sequence[Path]) -> InspectTests:
    """Return the hooks of ``--fairness-inspect``, the plugin ``inspect``.

    Args:
        option: A function from the name of an option to its raw value, None if it is not given.
        folders: The folders that are searched for files, in order.

    Raises:
        FairnessError: As of `InspectTests`.
    """
    groups, thresholds = (option(f"inspect-{name}") or () for name in ("groups", "threshold"))
    return InspectTests(option("inspect"), groups, thresholds, folders)
