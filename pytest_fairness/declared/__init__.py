"""Suites without Python: ``*.probe.yaml`` and ``*.probe.jsonl`` files, read into probes and thresholds."""
