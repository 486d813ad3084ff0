"""``distil``: a network learns the policy of the solved play."""
