"""Three organisations, three machines: the party service, and the clients of data owners and analysts."""
