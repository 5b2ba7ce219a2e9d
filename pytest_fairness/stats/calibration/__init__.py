"""Rates corrected for a judge's error by human labels."""
