"""Records for auditors and registries: signed runs, test reports, impact ratios, clauses of laws, OpenTelemetry."""
