"""Records for auditors and registries: results of evaluations, impact ratios as laws define them."""
