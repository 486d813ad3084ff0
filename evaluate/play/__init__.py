"""A person against an agent: the game, kept after every card, and the table in a terminal."""
