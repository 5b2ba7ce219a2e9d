"""What CI shows of a run: a summary, annotations, JUnit properties."""
