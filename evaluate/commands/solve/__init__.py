"""Commands that solve games for their equilibrium."""
