"""Suites that run by `pytest --pyargs`."""
