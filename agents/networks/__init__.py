"""Networks that learners train, and their agents."""
