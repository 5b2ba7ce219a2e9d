"""Settings of a verification: those of the run that wrote the results file."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fairness.core.errors import StoreError
from pytest_fairness.core.model_names import WRAPPED
from pytest_fairness.plugin.dry_runs.results_diff import RESULTS_FILE, ResultsFile, read_results_file
from pytest_fairness.plugin.named_runs import earlier_runs, named_models
from pytest_fairness.plugin.options import BY_NAME
from pytest_fairness.plugin.settings import Settings, secret_redactor
from pytest_fairness.report.results import redacted


def restore_run_settings(settings: Settings, config: pytest.Config) -> Settings:
    """Return the settings of the run of the results file: its models, samples, judge and baseline.

    Raises:
        FairnessError: The file is malformed, or its run is not in the store.
    """
    assert settings.verify is not None  # noqa: S101 - called where it is given
    content = redacted(read_results_file(settings.verify), secret_redactor(settings))
    results_file = config.stash[RESULTS_FILE] = ResultsFile(settings.verify, content)
    with earlier_runs(settings.store) as runs:
        if not runs.samples(results_file.run):
            raise StoreError(
                f"the store {settings.store} has no samples of the run of {results_file.where}: "
                "name the store that it was measured with (--fairness-store)"
            )
        stored = named_models(runs, results_file.run)
    models = dict.fromkeys(str(row.get("model")).partition(WRAPPED)[0] for row in results_file.rows.values())
    return replace(
        settings,
        models=tuple(name for name in models if name in stored),
        judge=results_file.setting("judge", str | None, settings.judge),
        where=BY_NAME["where"].parse_value(results_file.option("where"), settings.root),
        sample=results_file.setting("sample", int | None, settings.sample),
        profile=next(
            (BY_NAME["profile"].parse_value(name, settings.root) for name in results_file.option("profile")),
            settings.profile,
        ),
        seed=results_file.setting("seed", int, settings.seed),
        baseline=next(iter(results_file.option("baseline")), settings.baseline),
        offline=True,
        fresh=False,
        json=None if settings.json and settings.json.resolve() == settings.verify.resolve() else settings.json,
    )
