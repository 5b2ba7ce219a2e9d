"""Results that other tools have recorded, as tables, and a table as a probe. Imports core and stats only."""
