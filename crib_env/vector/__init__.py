"""The native vector environments: many single-agent games, stepped by one kernel call."""
