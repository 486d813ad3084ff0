"""The papers' figures, recomputed: a JSON file a paper holds its claims, which name functions of ``measures``."""
