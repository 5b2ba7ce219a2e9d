"""Floor 3, the pytest side: options, marks, collection, fixtures, outcomes, summary."""
