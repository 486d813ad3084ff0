"""``python -m tests.mutants``: whether tests notice single wrong changes of the source (mutation testing).

Each change of :mod:`tests.mutants.changes` is made in a copy of the source, and the quick tests named beside it run
there. They must fail: a change that passes them has survived.
"""
