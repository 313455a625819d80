"""Routes, one resource a file."""
