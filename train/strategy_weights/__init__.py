"""Lang's learner of strategy weights (2018)."""
