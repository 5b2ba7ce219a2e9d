"""The files suite: what a name changes in summaries, letters of reference and rankings of long documents."""
