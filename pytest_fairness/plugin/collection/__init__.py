"""Collection: one test for each item, threshold and model, from functions, files and variants of texts."""
