"""Variants of a text for each group: grammar, templates, names, lint."""
