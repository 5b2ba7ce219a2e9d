"""Who proposes the next parameters: one file for each kind of designer."""
