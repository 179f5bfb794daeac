"""A model on one page: what it is, how good it honestly is, what it looks at, and what to look at."""
