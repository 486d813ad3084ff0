"""The claims of Mueller (1987)."""
