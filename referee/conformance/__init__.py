"""Check bots for conformance with protocol 2, and report each violation with a command that repeats it.

``suite.run_check`` runs the suite, which needs neither a server nor a database nor a terminal.
"""
