"""The learner of O'Connor's discard game (2000)."""
