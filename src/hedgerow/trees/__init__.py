"""Decision trees: problems, the exact trainer step by step, prediction, what may be shown."""
