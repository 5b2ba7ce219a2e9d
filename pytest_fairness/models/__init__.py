"""Floor 2: who answers. One file a provider, found by name through the registry."""
