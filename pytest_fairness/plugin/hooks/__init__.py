"""Hooks of pytest, its fixtures and the start of a run, whether it measures or is a dry run."""
