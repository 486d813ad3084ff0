"""The claims of O'Connor (2000)."""
