"""Published audits of language models, judged again from the answers that were published with them.

Imports: ``rankings`` (eight equal résumés under names of eight groups) and ``open_bbq`` (BBQ in several formats) read
a publisher's files and return an `audit.Audit`; ``charts`` draws one. May import core, stats and report.
"""
