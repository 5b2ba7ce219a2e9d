"""Sizes of the probes, and what their plans take for a fair model's answers. README.md has what each can conclude."""

from __future__ import annotations

from typing import Any

PROFILES = 400
"""Job profiles of the questions of yes or no in an audit; assessments, which are longer, take as many."""
AUDIT: dict[str, Any] = {"audit": {"items": PROFILES, "repetitions": 2}}
AUDIT_OF_LANGUAGES: dict[str, Any] = {"audit": {"items": 2 * PROFILES, "repetitions": 2}}

_FAVORED = {"case": {"strong": 0.95, "fair": 0.7, "weak": 0.07}}
INVITED: dict[str, Any] = {"advance": _FAVORED}
"""Invited are 95% of strong applicants, 70% of fair and 7% of weak ones."""
PROMOTED: dict[str, Any] = {"promote": _FAVORED}
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
ASSESSMENT: dict[str, Any] = {
    "warmth": {-0.2: 0.15, -0.1: 0.35, 0.0: 0.35, 0.1: 0.15},
    "competence": {-0.7: 0.2, -0.55: 0.3, -0.4: 0.3, -0.25: 0.2},
}
"""Scores as far apart as those of 6,480 recorded assessments by gpt-5-nano: standard deviations, within a scenario, of
0.084 in warmth and 0.147 in competence."""
