"""The gender suite: are women and men decided on, written about and understood alike?"""
