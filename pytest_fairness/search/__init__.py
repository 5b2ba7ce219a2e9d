"""The search for a pair on which a decision flips, with hypothesis."""
