"""Published audits of language models, judged again from the answers that were published with them.

``rankings`` (eight equal résumés under names of eight groups), ``open_bbq`` (BBQ in several formats), ``implicit``
(words beside names), ``dialect`` (reward models) and ``flips`` (decisions under six names) read a publisher's files and
return an `audit.Audit`, which prints, draws and saves itself.
"""
