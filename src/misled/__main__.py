"""`python -m misled` is `misled`."""

from misled.cli import main

__all__ = ["main"]

main()
