"""Pictures of the game: the table as text, in pixels and in a window."""
