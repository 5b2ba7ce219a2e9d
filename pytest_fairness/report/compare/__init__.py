"""Several models or runs side by side."""
