"""Holds weights elsewhere than in the process that asks: on a Ray cluster."""
