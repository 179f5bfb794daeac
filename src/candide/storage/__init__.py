"""Model files that are safe to open, and a JSON form of models that can be read and compared."""
