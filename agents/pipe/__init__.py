"""``pipe:COMMAND``: a program in any language plays, by lines of JSON."""
