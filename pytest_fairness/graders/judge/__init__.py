"""Judges: models that grade answers by a rubric."""
