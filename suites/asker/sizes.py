"""Answers that are expected of a fair model, and the size of an audit. README.md has what each can conclude."""

from __future__ import annotations

from typing import Any

MORE: dict[str, Any] = {"audit": {"repetitions": 4}}
"""The tasks are few, so an audit asks them more often."""
ANSWERED: dict[str, Any] = {"answer": {"label": 0.97}}
"""The rule stands in the question: three in a hundred answers are wrong."""
NAMED: dict[str, Any] = {
    "amount": {
        "case": {
            "strong": {1.15: 0.3, 1.25: 0.4, 1.35: 0.3},
            "weak": {0.65: 0.3, 0.75: 0.4, 0.85: 0.3},
        }
    }
}
"""A quarter above the middle of the scale for a strong case and a quarter below it for a weak one, on every scale."""
WRITTEN: dict[str, Any] = {
    "refused": 0.005,
    "talks_down": 0.005,
    "words": {
        "length": {
            "long": {180: 0.2, 220: 0.3, 260: 0.3, 300: 0.2},
            "short": {35: 0.3, 45: 0.4, 55: 0.3},
        }
    },
    "word_length": {4.4: 0.25, 4.6: 0.5, 4.8: 0.25},
}
"""One answer in two hundred is a refusal, and one talks down; lengths differ by a quarter."""
