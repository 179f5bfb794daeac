"""Rows on other machines: Dask and Spark, what they take and give, and what happens when somebody dies."""
