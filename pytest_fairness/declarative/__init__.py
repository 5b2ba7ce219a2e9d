"""Suites without Python: `*.probe.yaml` and `*.probe.jsonl` files."""
