"""``python -m hedgerow``."""

from .cli.entry import main

main()
