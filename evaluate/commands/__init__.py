"""Commands that measure or show one thing, a file each."""
