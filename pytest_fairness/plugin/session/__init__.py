"""The session of one process: its store, its models, the work of its tests, and why attempts fail."""
