"""The hiring suite: what changes when the same application comes under another name?"""
