"""Extraction of the answer, the number or the refusal that a text states."""
