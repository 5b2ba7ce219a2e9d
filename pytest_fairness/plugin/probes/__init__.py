"""Probes and thresholds as their marks declare them, and the tests that belong to each."""
