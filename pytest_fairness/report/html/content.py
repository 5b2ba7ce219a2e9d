"""What the report's page shows, in its order: numbers as texts, charts as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_fairness.report import sentences
from pytest_fairness.report.html.articles import Article, article
from pytest_fairness.report.html.attempts import pack_attempts
from pytest_fairness.report.html.cards import Card, read_card
from pytest_fairness.report.html.leans import leans
from pytest_fairness.report.html.others import others
from pytest_fairness.report.provenance import facts
from pytest_fairness.report.release import NOT_JUDGED, STATES, counts, is_fair_so_far, reason_of
from pytest_fairness.report.repeating import command_of_run
from pytest_fairness.report.standing import rank
from pytest_fairness.report.texts import visible
from pytest_fairness.report.view import Row, View


def page_of(view: View) -> dict[str, Any]:
    """The values of the page's template."""
    results = view.results
    ordered = sorted(view.thresholds, key=lambda threshold: rank(threshold.row))
    names = short_names([line["model"] for line in results["release"]])
    articles = [
        article(threshold, names[threshold.row["model"]], f"t{number}") for number, threshold in enumerate(ordered, 1)
    ]
    cards = {suite: read_card(suite, text) for suite, text in view.cards.items()}
    return {
        "run": results["run"],
        "packed": pack_attempts(view.samples, results),
        "page": {
            "models": [_model(line, names[line["model"]]) for line in results["release"]],
            "simulated": sentences.SIMULATED if any(map(sentences.is_simulated, names)) else "",
            "grid": _grid(results),
            **{state: [each for each in articles if each.row["verdict"] == state] for state in STATES},
            "not_judged": _not_judged(articles),
            "suites": _suites(articles, cards, others(results, names)),
            "leans": leans(articles),
            "searches": [_search(row) for row in results.get("searches", ())],
            "facts": facts(view),
            "cards": list(cards.values()),
            "promise": sentences.promise(results["thresholds"]),
            "command": command_of_run(results["run"]),
        },
    }


def _search(row: Row) -> dict[str, Any]:
    """A search of a test with hypothesis; an older version's results have none."""
    texts = [visible(text, lines=True) for text in row["flip"]["texts"]] if row["flip"] else []
    told = {"name": f"{row['id']}, {row['model']}", "sentence": sentences.search(row), "command": row["command"]}
    return {"texts": texts, **{name: visible(text) for name, text in told.items()}}


def _model(line: Row, name: str) -> dict[str, Any]:
    parameters = line["model"].removeprefix(name).removeprefix("?").replace("&", ", ")
    so_far = "fair so far: " if is_fair_so_far(line) else ""
    return {"name": name, "parameters": parameters, "release": line, "counts": f"{so_far}{counts(line)}"}


def _not_judged(articles: Sequence[Article]) -> list[dict[str, Any]]:
    """By reason, since one reason may be that of many."""
    found: dict[str, list[Article]] = {}
    for each in articles:
        if each.row["verdict"] == NOT_JUDGED:
            found.setdefault(reason_of(each.row), []).append(each)
    return [{"reason": visible(reason), "cards": cards} for reason, cards in found.items()]


def short_names(models: Sequence[str]) -> dict[str, str]:
    """Models by what tells them apart: without their parameters, where no two differ in these alone.

    >>> short_names(["openai:x?seed=1", "openai:y?seed=1"])
    {'openai:x?seed=1': 'openai:x', 'openai:y?seed=1': 'openai:y'}
    """
    plain = [model.partition("?")[0] for model in models]
    return {
        model: (name if plain.count(name) == 1 else model) or "no model"
        for model, name in zip(models, plain, strict=True)
    }


def _grid(results: Row) -> list[dict[str, Any]]:
    """A line per suite and then per field of it, a mark per model; suites without a scale have none."""
    models = [line["model"] for line in results["release"]]
    suites = list(dict.fromkeys(row["suite"] for row in results["thresholds"]))
    lines = []
    for suite in suites:
        harms = dict.fromkeys(row["harm"] for row in results["thresholds"] if row["suite"] == suite and row["harm"])
        marked = {mark["model"]: mark["mark"] for mark in results["marks"] if mark.get("suite") == suite}
        line = {"anchor": _anchor(suites, suite), "suite": suite, "field": "", "harms": ", ".join(harms)}
        if marked:
            lines.append(line | {"cells": [marked.get(model) for model in models]})
        for field in dict.fromkeys(mark["field"] for mark in results["marks"] if "field" in mark):
            of, _, name = field.partition("/")
            marked = {mark["model"]: mark["mark"] for mark in results["marks"] if mark.get("field") == field}
            if of == suite:
                lines.append(line | {"field": name, "harms": "", "cells": [marked.get(model) for model in models]})
    return lines


def _suites(
    articles: Sequence[Article], cards: Mapping[str, Card], beside: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[dict[str, Any]]:
    names = sorted({each.row["suite"] for each in articles})
    first = {name: next(place for place, each in enumerate(articles) if each.row["suite"] == name) for name in names}
    return [
        {
            "name": name,
            "anchor": _anchor(list(dict.fromkeys(each.row["suite"] for each in articles)), name),
            "question": cards[name].question if name in cards else "",
            "cards": [each for each in articles if each.row["suite"] == name],
            "others": beside.get(name, ()),
        }
        for name in sorted(names, key=first.__getitem__)
    ]


def _anchor(names: Sequence[str], name: str) -> str:
    return f"suite-{sorted(names).index(name) + 1}"
