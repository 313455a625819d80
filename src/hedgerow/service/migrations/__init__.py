"""Alembic's migrations of a party's database, run by :func:`..database.open_database`."""
