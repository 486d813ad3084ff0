"""The learner ``ppo``."""
