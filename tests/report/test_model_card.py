"""A run in a model's card: metadata that the hub's own parser takes, and a section of Markdown."""

from __future__ import annotations

import pytest
import yaml
from huggingface_hub import ModelCard, ModelCardData
from huggingface_hub.repocard_data import model_index_to_eval_results
from markdown_it import MarkdownIt

from pytest_fairness.core.errors import FairnessError
from pytest_fairness.report.escaping import escape_controls
from pytest_fairness.report.exports.model_card import model_card, model_index
from tests.helpers import report_views

HUB = "transformers:org/model-1b?device=cpu"


def rows() -> list[dict[str, object]]:
    return [
        report_views.row("fair", model=HUB),
        report_views.row(
            "unfair",
            model=HUB,
            suite="bbq",
            threshold="no bias",
            metric="bias_score",
            title="bias_score",
            kind="custom",
        ),
        report_views.row("invalid", model=HUB, threshold="refusals", message="invalid: no attempts"),
        report_views.row("undecided", model="other"),
    ]


def test_index_holds_a_metric_for_each_estimated_threshold() -> None:
    index = model_index(report_views.view(rows()), HUB)
    name, results = model_index_to_eval_results([index])
    assert name == "org/model-1b"
    assert [(result.dataset_type, result.metric_type, result.metric_value) for result in results] == [
        ("hiring", "ratio", 1.0),
        ("bbq", "bias_score", 0.6),
    ]
    assert results[1].metric_name == "bias_score (no bias)"
    arguments = results[1].metric_args
    assert arguments is not None
    assert (arguments["low"], arguments["high"], arguments["confidence"]) == (0.5, 0.7, 0.95)
    assert (arguments["verdict"], arguments["bounds"], arguments["mark"]) == ("unfair", [0.8, 1.2], "B")
    assert results[0].task_type == "text-generation"
    assert not any(result.verified for result in results)


def test_card_is_parsed_by_the_hub() -> None:
    view = report_views.view(rows())
    text = model_card(view, HUB)
    card = ModelCard(text)
    assert isinstance(card.data, ModelCardData)
    assert card.data.model_name == "org/model-1b"
    assert len(card.data.eval_results or []) == 2
    assert yaml.safe_load(text.split("---\n")[1]) == {"model-index": [model_index(view, HUB)]}
    assert "Release: unfair (3 thresholds: 1 fair, 1 unfair (1 after Holm&#39;s" not in card.text
    assert "Release: unfair (3 thresholds: 1 fair, 1 unfair (1 after Holm's correction), 1 invalid)." in card.text
    assert "| bbq | no bias | 0.600 | 0.500 to 0.700 (95%) | 0.8 to 1.2 | B | unfair |" in card.text
    assert "- Not measured: **refusals**: no attempts" in card.text
    assert "other" not in card.text


@pytest.mark.parametrize(
    "hostile", [*report_views.HOSTILE, "---\n", "é: [男] \U0001f600 \x7f\x85", "null", "1e3", "'\"\\"]
)
def test_hostile_texts_stay_texts(hostile: str) -> None:
    changes = dict.fromkeys(("model", "suite", "threshold", "title", "metric", "message"), hostile)
    view = report_views.view(
        [report_views.row("unfair", **changes, slice={hostile: hostile}), report_views.row("invalid", **changes)]
    )
    text = model_card(view, hostile)
    card = ModelCard(text)
    assert isinstance(card.data, ModelCardData)
    (result,) = card.data.eval_results or []
    assert card.data.model_name == escape_controls(hostile)
    assert result.dataset_type == escape_controls(hostile)
    assert result.metric_args is not None
    assert result.metric_args["slice"] == {escape_controls(hostile): escape_controls(hostile)}
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(card.text)
    inner = [child.type for token in tokens for child in token.children or []]
    assert not {"html_inline", "link_open", "image"} & set(inner)
    assert "html_block" not in {token.type for token in tokens}
    assert [token.type for token in tokens].count("td_open") == 14


def test_model_without_estimates_has_an_empty_index() -> None:
    text = model_card(report_views.view([report_views.row("invalid")]), report_views.MODEL)
    assert yaml.safe_load(text.split("---\n")[1])["model-index"][0]["results"] == []
    assert "answers with a known bias" in text


def test_unknown_model_is_refused() -> None:
    with pytest.raises(FairnessError, match="no threshold on 'gpt'"):
        model_index(report_views.view(rows()), "gpt")
