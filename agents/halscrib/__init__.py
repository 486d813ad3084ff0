"""``halscrib``: Mueller's player (1987)."""
