"""What is stated against what happens: chances to win and losses, played out."""
