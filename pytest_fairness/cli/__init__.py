"""The command `pytest-fairness`: one file a command."""
