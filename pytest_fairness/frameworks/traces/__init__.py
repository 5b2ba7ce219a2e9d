"""Traces of applications as tables of answers: OpenTelemetry, OpenInference, Phoenix and Langfuse."""
