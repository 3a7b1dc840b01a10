"""Server-sent events: live streams of matches, tournaments, ladders and the service.

``stream`` reads the database once for all viewers of a subject and sends them messages; the ``stream`` modules of the
areas decide what these contain. ``connections`` moves the connection of a request to ``stream_writer``.
"""
