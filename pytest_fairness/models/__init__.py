"""Models that answer: one file a provider, found by name through the registry."""
