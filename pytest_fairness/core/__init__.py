"""Floor 1, the vocabulary: items, attempts, estimates, verdicts. Standard library only."""
