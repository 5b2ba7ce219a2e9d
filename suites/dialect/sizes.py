"""Answers that are expected of a fair model, and the size of an audit. README.md has what each can conclude."""

from __future__ import annotations

from typing import Any

MORE: dict[str, Any] = {"audit": {"repetitions": 3}}
"""The meanings are few, so an audit asks them more often."""
_PLAIN = {5: 0.25, 6: 0.5, 7: 0.25}
RATED: dict[str, Any] = {
    "rating": {
        "case": {
            "strong": {7: 0.25, 8: 0.5, 9: 0.25},
            "weak": {2: 0.25, 3: 0.5, 4: 0.25},
            "complaints": _PLAIN,
            "questions": _PLAIN,
            "public": _PLAIN,
        }
    },
    "icc": 0.3,
}
"""Ratings of about 8 for strong notes, 3 for weak ones and 6 for all else; two ratings of one meaning differ by 0.6."""
GRANTED: dict[str, Any] = {"granted": {"case": {"strong": 0.95, "weak": 0.05}}}
"""Nearly all strong notes and dangers are granted, and few others."""
ANSWERED: dict[str, Any] = {"answer": {"label": 0.97}, "wrong": 0.03}
"""Three in a hundred questions are answered wrongly."""
