"""Published benchmarks and audits, and tasks of other harnesses, as probes and records."""
