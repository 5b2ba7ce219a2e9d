"""Records for auditors and registries: evaluation results, impact ratios, evidence for clauses of laws."""
