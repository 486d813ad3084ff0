"""The claims of Lang (2018)."""
