"""Results that other tools have recorded, as tables; a table as a probe."""
