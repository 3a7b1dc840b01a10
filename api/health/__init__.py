"""Serve liveness and readiness over HTTP."""
