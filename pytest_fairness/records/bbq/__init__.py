"""BBQ: its questions and the people in them, published predictions and records of question pairs."""
