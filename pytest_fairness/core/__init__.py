"""The vocabulary: items, prompts, answers, grades, estimates, verdicts, marks, errors."""
