"""How well an agent plays: luck taken out, exact best responses, decisions judged one by one, tasks with answers."""
