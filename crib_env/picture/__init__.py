"""Pictures of the game: the table as SVG, as text and in pixels. The SVG needs nothing but this package."""
