"""Judgments: a threshold's test evaluated on its sample, its result, causes and history."""
