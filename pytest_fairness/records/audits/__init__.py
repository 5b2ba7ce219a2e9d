"""Published audits of language models, judged again from the answers that were published with them.

`public_audits` has the table of them. The module of each reads a publisher's files and computes its figures again;
`audit.Audit` has their verdicts, which it prints and draws.
"""
