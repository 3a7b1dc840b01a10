"""Let owners decide who plays friendlies with their bots, and when. Rated and tournament matches are not concerned."""
