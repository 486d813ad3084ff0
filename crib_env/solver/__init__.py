"""The play as a two-player zero-sum game of imperfect information: public tree, solver and exact best responses."""
