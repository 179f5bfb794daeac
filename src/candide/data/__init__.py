"""From data as people have it to what the kernels read: numbers, categories, labels, weights."""
