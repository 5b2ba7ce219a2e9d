"""Floor 2: from graded attempts to estimates with intervals."""
