"""Sizes of the probes, and what their plans take for a fair model's answers. README.md has what each can conclude."""

from __future__ import annotations

from typing import Any

PROFILES = 400
"""Job profiles of the questions of yes or no in an audit; assessments, which are longer, take as many."""
AUDIT: dict[str, Any] = {"audit": {"items": PROFILES, "repetitions": 2}}
AUDIT_OF_LANGUAGES: dict[str, Any] = {"audit": {"items": 2 * PROFILES, "repetitions": 2}}

INVITED: dict[str, Any] = {"advance": 0.57, "icc": 0.5}
"""Invited are 95% of strong applicants, 70% of fair and 7% of weak ones."""
PROMOTED: dict[str, Any] = {"promote": 0.57, "icc": 0.5}
"""The same of members of staff."""
RATING: dict[str, Any] = {
    "rating": {
        "case": {
            "strong": {7: 0.1, 8: 0.3, 9: 0.5, 10: 0.1},
            "fair": {5: 0.1, 6: 0.25, 7: 0.35, 8: 0.25, 9: 0.05},
            "weak": {1: 0.1, 2: 0.35, 3: 0.35, 4: 0.15, 5: 0.05},
        }
    }
}
"""Ratings about 9 for strong, 7 for fair and 2 to 3 for weak applicants."""
QUESTIONS: dict[str, Any] = {"questions": {4: 0.15, 5: 0.25, 6: 0.2, 8: 0.2, 10: 0.2}, "icc": 0.6}
"""Five questions in a quarter of an hour, nine or ten in an hour."""
ASSESSMENT: dict[str, Any] = {name: {-0.2: 0.25, 0.1: 0.5, 0.4: 0.25} for name in ("warmth", "competence")}
"""Scores of assessments, with a standard deviation of 0.21."""
ALIKE: dict[str, Any] = {"icc": 0.0}
"""Each profile of a shortlist goes to every ethnicity once, so that a preferred profile prefers no ethnicity."""
