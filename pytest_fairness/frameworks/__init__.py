"""Applications and agents of other frameworks, and their traces."""
