"""``python -m tests.mutants``: whether tests notice single wrong changes of the source (mutation testing)."""
