"""Serve live streams of matches and tournaments as server-sent events.

``stream`` reads the database once for all viewers of a subject and sends them messages, whose contents the ``stream``
modules of the areas define. ``connections`` moves the connection of a request to ``stream_writer``.
"""
