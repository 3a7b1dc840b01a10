"""Benchmarks. Each is a program that prints one line of JSON (``python -m bench.engine``); see docs/performance.md.

They measure and assert nothing. What they write goes to a temporary folder.
"""
