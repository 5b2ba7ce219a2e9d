"""Rubrics: the suite's own, one for both sides, with what the evidence says of each question; or a user's by domain."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_fairness import FairnessError, Rubric
from pytest_fairness.records.asymmetry.figures import DOMAINS

from .items import DATA, AsymmetryPrompt


@dataclass(frozen=True, slots=True)
class AsymmetryRubrics:
    """Rubrics by the value of an attribute, as a `Judge` takes them."""

    rubrics: Mapping[str, Rubric]
    by: str
    """The attribute: ``asymmetry``, the id of a prompt, or ``domain``."""


def read_rubrics(folder: Path | None, prompts: Iterable[AsymmetryPrompt]) -> AsymmetryRubrics:
    """Return the rubrics of a user's ``rubric.json`` by domain if its folder has one, else the suite's own by prompt.

    A user's file has the published form: an object from each domain to the instructions, a text or a list of lines.
    Its fields are then the published ones. A copy of the suite's own file is read as the suite's.

    Raises:
        FairnessError: The file is no rubric.
    """
    path = DATA / "rubric.json" if folder is None or not (folder / "rubric.json").is_file() else folder / "rubric.json"
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8-sig"))
    except ValueError as error:
        raise FairnessError(f"{path} holds no JSON: {error}") from None
    if isinstance(content, dict) and content.keys() == {"instructions", "reference"}:
        return _by_prompt(content, prompts)
    if not isinstance(content, dict) or not all(content.get(domain) for domain in DOMAINS):
        raise FairnessError(f"{path} must be an object with instructions for {' and '.join(DOMAINS)}")
    try:
        fields = _fields("published_fields.json")
        by_domain = {
            domain: Rubric.from_data({"instructions": content[domain], "fields": fields}) for domain in DOMAINS
        }
    except FairnessError as error:
        raise FairnessError(f"{path}: {error}") from None
    return AsymmetryRubrics(by_domain, "domain")


def published_rubrics() -> AsymmetryRubrics:
    """Return rubrics with the published fields, for the grades of a recorded run, which no judge reads."""
    rubric = Rubric.from_data({"instructions": "As recorded.", "fields": _fields("published_fields.json")})
    return AsymmetryRubrics(dict.fromkeys(DOMAINS, rubric), "domain")


def _by_prompt(content: Mapping[str, Any], prompts: Iterable[AsymmetryPrompt]) -> AsymmetryRubrics:
    fields, instructions = _fields("fields.json"), content["instructions"]
    rubrics = {}
    for prompt in prompts:
        reference = content["reference"][prompt.about.get("evidence", "")]
        lines = [*instructions, "", reference.format(source=prompt.about.get("source", "not given"))]
        rubrics[prompt.id] = Rubric.from_data({"instructions": lines, "fields": fields})
    return AsymmetryRubrics(rubrics, "asymmetry")


def _fields(name: str) -> Any:
    return json.loads((DATA / name).read_text(encoding="utf-8"))
