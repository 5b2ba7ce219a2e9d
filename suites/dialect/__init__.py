"""The dialect suite: is a writer rated, decided on and helped alike in several Englishes, and in learners' language?"""
