"""Shared parts of every training run: rounds, run folders, checkpoints, measurements of strength, sweeps over seeds."""
