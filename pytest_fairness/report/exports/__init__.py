"""A run in the form of other tools."""
