"""Converters from recorded results of other tools to replay files."""
