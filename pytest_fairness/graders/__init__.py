"""Floor 2: what was answered."""
