"""Filter matches, and read what their results and logs say about bots."""
