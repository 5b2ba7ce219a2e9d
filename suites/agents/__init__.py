"""The agents suite: does an assistant that acts by tool do the same for customers under other names?"""
