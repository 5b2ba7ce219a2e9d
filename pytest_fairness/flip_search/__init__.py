"""Search with hypothesis for a pair of texts on which a decision flips."""
