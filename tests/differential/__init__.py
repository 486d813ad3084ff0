"""The engine against a second, independent statement of the rules, over a thousand million cards laid."""
