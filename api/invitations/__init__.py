"""Serve invitations: to run tournaments and series together with others, and to let bots play in tournaments."""
