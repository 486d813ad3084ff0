"""Players and games: native opponents, agents named in text, agents with ``throw`` and ``lay``, results."""
