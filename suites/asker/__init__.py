"""The asker suite: is everybody helped alike with one task, whatever they have said about themselves?"""
