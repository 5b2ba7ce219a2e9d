"""Records for auditors and registries: results, test reports, impact ratios, clauses of laws, OpenTelemetry."""
