"""Decision trees: the paper's algorithms as written, the fast exact trainer, the normalised model."""
