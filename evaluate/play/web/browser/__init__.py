"""What the site has in the place of libraries and of some modules; nothing here is imported elsewhere."""
