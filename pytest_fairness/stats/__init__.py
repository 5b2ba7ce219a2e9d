"""Statistics: from graded attempts to estimates with intervals, and what these may claim."""
