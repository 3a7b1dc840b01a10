"""The conformance suite for bots: whether one keeps protocol 2, with a request to resend for everything it does not.

``examination.examine`` runs it; nothing here knows a server, a record or a terminal.
"""
