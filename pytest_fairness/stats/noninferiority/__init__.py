"""A sample against an earlier one: is it no worse?"""
