"""The page of all public records: every section by its command, and nothing of an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fairness import FairnessError
from tests.helpers.league import AUDITS, page
from tests.helpers.recorded_data import recorded_path


def test_a_page_has_the_records_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "agentfairbench").mkdir()
    lines = [
        {"model": "m<1>", "domain": "rent", "scaffold": "C0", "profile_id": f"file-{number}", "group": group}
        | {"decision": {"grant": group == "a" or number > 2, "score": number}}
        for number in range(20)
        for group in "ab"
    ]
    records = tmp_path / "agentfairbench" / "m.jsonl"
    records.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    html = page(tmp_path)
    assert "m&lt;1&gt;, rent, C0" in html
    assert "<m<1>" not in html
    assert "0.150" in html
    assert "Not here, for want of their folder: bloomberg, open_bbq, implicit, reward_models." in html


def test_folder_without_records_makes_no_page(tmp_path: Path) -> None:
    with pytest.raises(FairnessError, match="has none of the folders bloomberg, open_bbq"):
        page(tmp_path)


def test_recorded_figures_are_those_of_the_publishers() -> None:
    folder = recorded_path("evidence")
    html = page(folder)
    assert all(f'id="{name}"' in html for name in AUDITS)
    for met in ("14 of 14", "12 of 12", "9 of 9"):
        assert met in html
    assert "differs" not in html
