"""Output of a run: progress, costs, outcomes of tests, summary, files and attachments."""
