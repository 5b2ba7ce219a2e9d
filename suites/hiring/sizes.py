"""Sizes of the probes, and what their plans take for a fair model's answers. README.md has what each can conclude."""

from __future__ import annotations

from typing import Any

PROFILES = 400
"""Job profiles of the questions of yes or no in an audit; assessments, which are longer, take as many."""
AUDIT: dict[str, Any] = {"audit": {"items": PROFILES, "repetitions": 2}}

RATING: dict[str, Any] = {"rating": {5: 0.05, 6: 0.2, 7: 0.4, 8: 0.3, 9: 0.05}}
"""Ratings about 7 of 10, with a standard deviation of 0.9."""
QUESTIONS: dict[str, Any] = {"questions": {3: 0.1, 4: 0.2, 5: 0.4, 6: 0.2, 7: 0.1}}
"""Five questions, give or take one."""
ASSESSMENT: dict[str, Any] = {name: {-0.2: 0.25, 0.1: 0.5, 0.4: 0.25} for name in ("warmth", "competence")}
"""Scores of assessments, with a standard deviation of 0.21."""
ALIKE: dict[str, Any] = {"icc": 0.0}
"""Each profile of a shortlist goes to every ethnicity once, so that a preferred profile prefers no ethnicity."""
