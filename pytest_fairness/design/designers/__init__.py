"""Designers, which propose the next parameters: one file for each kind."""
