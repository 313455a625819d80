"""Shamir's sharing among three parties with threshold one, over the prime field of 2^61 - 1 elements."""
