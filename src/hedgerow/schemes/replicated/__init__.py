"""Protocols on replicated shares. Above this package they are called by way of :mod:`hedgerow.protocols`."""
