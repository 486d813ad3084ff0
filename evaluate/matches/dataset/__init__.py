"""Datasets: games between two agents as Parquet, one row a decision; or as a Minari dataset of one of them."""
