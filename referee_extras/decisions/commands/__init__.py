"""Implement the commands that try a decision of a finished match again."""
