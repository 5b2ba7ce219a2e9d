"""The gender of the character that a text is about."""
