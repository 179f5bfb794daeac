"""``python -m candide.cli``."""

from .entry import main

# Child processes that are started by multiprocessing import this file too.
if __name__ == "__main__":
    main()
