"""Extensions of pytest-fairness by a company that does not exist."""
