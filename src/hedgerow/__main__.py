"""``python -m hedgerow``."""

from .cli.main import main

main()
