"""Local weights outside the process that sends requests: on a Ray cluster."""
