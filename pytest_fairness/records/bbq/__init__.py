"""BBQ: published predictions and records of question pairs."""
