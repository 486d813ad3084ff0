"""``ismcts``, ``uct-determinized`` and ``uct-cheating``: Monte Carlo tree search."""
