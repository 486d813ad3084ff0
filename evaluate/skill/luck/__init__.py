"""How much of a result was luck: control variates for the cards and the starter, without bias."""
