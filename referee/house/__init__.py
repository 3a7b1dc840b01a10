"""House players: their strategies, their seat in this process, and the server that plays them over HTTP."""
