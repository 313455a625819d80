"""One database migration per file, in the order of their revisions."""
