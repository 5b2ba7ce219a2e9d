"""The emotion suite: are emotions read as well in voices with a flat prosody as in others?"""
