"""The asymmetry suite: is critique of the powerful treated like critique of the vulnerable?"""
