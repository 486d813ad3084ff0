"""Commands that measure time and memory."""
