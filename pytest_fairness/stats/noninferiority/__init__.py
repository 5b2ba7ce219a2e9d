"""Non-inferiority of a sample to an earlier one."""
