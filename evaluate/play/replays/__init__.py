"""Recorded games as pictures: frames, a page to step through, a GIF."""
