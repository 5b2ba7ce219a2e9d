"""Well-formed variants of one text, and what in a text could be varied."""
