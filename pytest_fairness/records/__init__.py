"""Published records of BBQ, its question pairs and the asymmetry benchmark, in and out; audits judged again."""
