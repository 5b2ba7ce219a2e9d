"""Local weights in this process or on a Ray cluster: answers, and likelihoods of options."""
