"""``python -m candide.cli``."""

from .app import main

main()
