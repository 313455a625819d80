"""The control API of one party: HTTPS with mutual TLS; the caller's certificate says who is asking."""
