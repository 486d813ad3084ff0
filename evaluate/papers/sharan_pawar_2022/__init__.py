"""The claims of Sharan and Pawar (2022)."""
