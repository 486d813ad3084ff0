"""``equilibrium``: discards as ``expert`` does, and plays so that nobody can exploit it."""
