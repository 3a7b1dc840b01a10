"""Atom feeds (RFC 4287): results of bots and tournaments, monthly champions of ladders."""
