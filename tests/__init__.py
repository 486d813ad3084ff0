"""The tests; a package, so that they share helpers and can be run by name (``python -m tests.test_golden_games``)."""
