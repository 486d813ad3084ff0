"""How the tables of the library are made, and checked against games that are played out."""
