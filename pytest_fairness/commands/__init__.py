"""The commands of ``pytest-fairness``: one module for each kind, which declares and runs them."""
