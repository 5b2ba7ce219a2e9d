"""Samples: the answers that a probe's tests and thresholds use, graded, with earlier and stored ones."""
