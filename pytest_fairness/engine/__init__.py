"""Sends many requests safely: scheduler, retries, rate limits, budget, claims."""
