"""Check whether bots are fit to play, and pause and retire them."""
