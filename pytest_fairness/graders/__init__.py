"""Graders of answers: yes or no, a choice, a rating, a refusal, a judge's grade."""
