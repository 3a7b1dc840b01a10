"""Choose and claim the matches to play next, and share places among them."""
