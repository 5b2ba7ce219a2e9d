"""Runs that ask no model: a plan, a certificate, the verification of a results file."""
