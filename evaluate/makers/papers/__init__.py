"""The papers' figures, recomputed: what each paper says, what is measured here, and whether they agree.

A paper is a JSON file of claims and a module with the functions that measure them.
"""
