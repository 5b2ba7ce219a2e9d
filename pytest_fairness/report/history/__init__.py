"""Thresholds over runs: the verdicts, estimates and conditions of each, from a store or from results files."""
