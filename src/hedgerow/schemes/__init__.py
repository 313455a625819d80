"""Ways to compute on shares. There is one: replicated shares among three parties."""
