"""Conversion of input data to the form that kernels read: numbers, categories, labels, weights."""
