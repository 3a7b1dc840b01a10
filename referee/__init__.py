"""Provide the games, matches and results of Referee, a tournament service for bots."""

__version__ = "0.1.0"
