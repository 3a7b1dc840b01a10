"""Provide house players: their strategies, their seats in this process, and a server that plays them over HTTP."""
