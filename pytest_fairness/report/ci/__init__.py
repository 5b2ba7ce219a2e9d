"""Outputs for CI: a summary, annotations, JUnit properties."""
