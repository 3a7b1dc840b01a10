"""Referee: games, matches and results of a tournament service for bots."""

__version__ = "0.1.0"
