"""The implicit suite: do words and tasks follow stereotypes, where nobody is asked about a group?"""
