"""Variants of a text for each group: grammar, templates, names, lint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_fairness.lazy_names import lazy_names

if TYPE_CHECKING:
    from pytest_fairness.counterfactual.attributes import attribute_rows, attribute_words
    from pytest_fairness.counterfactual.confounds import Confound, find_confounds
    from pytest_fairness.counterfactual.linter import lint
    from pytest_fairness.counterfactual.name_lists import BALANCED, GENDERS, MAJORITIES, Name, NameList
    from pytest_fairness.counterfactual.slots import Value, counterfactuals, names, values_of, variant_of
    from pytest_fairness.counterfactual.templates import SlotTemplate
else:
    __getattr__, __dir__ = lazy_names(__name__, {
        "counterfactual.attributes": "attribute_rows attribute_words",
        "counterfactual.confounds": "Confound find_confounds",
        "counterfactual.linter": "lint",
        "counterfactual.name_lists": "BALANCED GENDERS MAJORITIES Name NameList",
        "counterfactual.slots": "Value counterfactuals names values_of variant_of",
        "counterfactual.templates": "SlotTemplate",
    })  # fmt: skip

__all__ = [
    "BALANCED", "Confound", "GENDERS", "MAJORITIES", "Name", "NameList", "SlotTemplate", "Value", "attribute_rows",
    "attribute_words", "counterfactuals", "find_confounds", "lint", "names", "values_of", "variant_of",
]  # fmt: skip
