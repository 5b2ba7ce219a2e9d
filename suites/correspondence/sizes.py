"""Answers that are expected of a fair model, and the size of an audit. README.md has what each can conclude."""

from __future__ import annotations

from typing import Any

MORE: dict[str, Any] = {"audit": {"repetitions": 4}}
"""The advertisements are few, so an audit asks them more often."""
INVITED: dict[str, Any] = {
    "invited": {"fit": {"none": 0.03, "one": 0.12, "two": 0.4, "three": 0.75, "all": 0.96}},
    "icc": 0.5,
}
"""Shares of invitations: some employers invite an applicant who meets two of four requirements, and others do not.

Under another name an application mostly gets the same answer. A paraphrase changes 14% of answers (arXiv:2605.01048),
which is a correlation of 0.7 at a base rate of one half; 0.5 is cautious: a quarter changes.
"""
_EVEN = {0.25: 0.1, 0.375: 0.2, 0.5: 0.4, 0.625: 0.2, 0.75: 0.1}
_EVEN_OF_TWO = {0.25: 0.2, 0.333: 0.2, 0.5: 0.2, 0.667: 0.2, 0.75: 0.2}
"""Shares of two people, which vary more than those of four."""
RANKED: dict[str, Any] = {
    "women": _EVEN,
    "minority": _EVEN,
    "minority_women": _EVEN_OF_TWO,
    "minority_men": _EVEN_OF_TWO,
    "target": {"case": {"strong": {1.0: 0.8, 0.857: 0.2}, "weak": {0.0: 0.8, 0.143: 0.2}}},
}
"""The target is ranked first or last, and the others in any order."""
