"""``equilibrium``: discards as ``expert`` does, and plays what nobody can exploit."""
