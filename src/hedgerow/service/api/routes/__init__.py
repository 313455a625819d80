"""Routes, one resource per file."""
