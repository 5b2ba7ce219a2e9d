"""The asymmetry benchmark: its figures, records and ranking."""
