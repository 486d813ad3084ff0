"""``ismcts`` and ``uct-determinized``: Monte Carlo tree search."""
