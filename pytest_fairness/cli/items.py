"""``pytest-fairness items``: items that discriminate negatively between models."""

from __future__ import annotations

import argparse

from pytest_fairness.cli.arguments import Commands, add_command, add_store, open_store, secret_redactor, whole_number


def add(commands: Commands) -> None:
    """Declare the command."""
    items = add_command(
        commands,
        "items",
        "list items that discriminate negatively between models, with their answers",
        "List items on which models that score high elsewhere score low: a wrong label, or a grader that misreads. "
        "The runs together need at least 5 models that have answered them.",
    )
    items.add_argument("runs", nargs="+", metavar="RUN", help="id of a run, the beginning of its id, or latest")
    add_store(items)
    items.add_argument("--grade", required=True, metavar="NAME", help="the grade that is the score of an item")
    items.add_argument("--equals", metavar="VALUE", help="the value that counts as 1, of a grade that holds texts")
    items.add_argument("--probe", metavar="NAME", help="only of this probe: its id, or the end of it")
    items.add_argument(
        "--most", type=whole_number, default=10, metavar="N", help="show at most N items of each probe (10)"
    )
    items.set_defaults(run=_items)


def _items(options: argparse.Namespace) -> None:
    from pytest_fairness.core.errors import FairnessError
    from pytest_fairness.report.broken_items import lines
    from pytest_fairness.report.load_run import read_view
    from pytest_fairness.store.samples import StoredSample

    if options.most < 1:
        raise FairnessError(f"--most is {options.most}: it must be at least 1")
    probes: dict[str, dict[str, StoredSample]] = {}
    with open_store(options.store) as store:
        for name in options.runs:
            view = read_view(store, store.runs.find(name, "document"), secret_redactor())
            for sample in view.samples:
                if sample.probe.endswith(options.probe or ""):
                    probes.setdefault(sample.probe, {}).setdefault(sample.model_key, sample)
    samples_by_probe = [list(samples.values()) for _, samples in sorted(probes.items())]
    if not samples_by_probe:
        raise FairnessError("these runs hold no such sample: name runs that have judged its thresholds")
    graded = [
        samples for samples in samples_by_probe if any(options.grade in sample.graders for sample in samples)
    ] or samples_by_probe
    for samples in graded:
        for line in lines(samples, options.grade, options.equals, options.most):
            print(line)
