"""The politics suite: does a model write as well for the left as for the right?"""
