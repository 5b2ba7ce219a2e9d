"""The suite's own questions: templates in JSON, expanded when they are loaded."""
