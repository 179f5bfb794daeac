"""``candide`` in a terminal."""
