"""Liveness and readiness over HTTP."""
