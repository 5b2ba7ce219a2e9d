"""Attempts, claims, grades, spending and runs, in SQLite or PostgreSQL."""
