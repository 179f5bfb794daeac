"""Properties that hold for every statistic, family and kernel, each written once."""
