"""Conjugate priors by themselves: SciPy's and R's numbers, sums over all data, integrals."""
