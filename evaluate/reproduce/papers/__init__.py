"""The five papers, each with its claims."""
