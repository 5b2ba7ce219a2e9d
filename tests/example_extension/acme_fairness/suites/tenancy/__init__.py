"""Tenants of two sexes ask for a flat."""
