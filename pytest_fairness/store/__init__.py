"""Floor 2: what was asked and answered, shared by processes and runs."""
