"""How the win table is made: from deals that a player plays at every pair of scores, from the end of the game back."""
