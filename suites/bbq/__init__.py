"""The BBQ suite: does a model answer with a stereotype where it should not?"""
