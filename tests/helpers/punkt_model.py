"""A punkt model by nltk's own classes: nothing is downloaded for a test."""

from __future__ import annotations

from pathlib import Path

import nltk  # type: ignore[import-untyped]
from nltk.tokenize.punkt import PunktTrainer, save_punkt_params  # type: ignore[import-untyped]

TEXT = (
    "Dr. Smith wrote to Mr. Jones. Mr. Jones did not write back. She waited for a week. Then Dr. Smith came to see him."
)


def make_punkt(folder: Path) -> None:
    """Train a model on a few sentences and save it where nltk looks for English in ``folder``."""
    target = folder / "tokenizers" / "punkt_tab" / "english"
    target.parent.mkdir(parents=True)
    nltk.data.path.insert(0, str(folder))  # nltk writes only below what it reads
    save_punkt_params(PunktTrainer(TEXT * 20).get_params(), dir=str(target))
