"""Checks that the parts of a decoded model are consistent, so that no kernel reads outside an array or scores NaN.

The decoder has checked types. These modules check shapes, ranges, and whether the parts of a model agree.
"""
