"""The shipped suites: one folder each."""
