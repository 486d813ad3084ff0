"""Speed and memory of this project's engine and environments, and of others for comparison, measured in one run."""
