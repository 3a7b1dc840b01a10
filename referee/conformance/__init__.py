"""The conformance suite for bots: it checks protocol 2 and reports each violation with a command that repeats it.

``suite.run_check`` runs it. It needs neither a server nor a database nor a terminal.
"""
