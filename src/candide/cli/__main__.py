"""``python -m candide.cli``."""

from .entry import main

# Processes that are started on the way import this file too.
if __name__ == "__main__":
    main()
