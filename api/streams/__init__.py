"""What people watch as it goes on, as server-sent events.

``hub`` reads the record once for all who watch something and tells them; what is told stands in a file for each thing
that can be watched. ``connections`` hands the connection of a request over to the lines.
"""
