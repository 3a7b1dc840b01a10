"""Benchmarks: programs that print one line of JSON (``python -m bench.engine``). They assert nothing.

``docs/performance.md`` quotes their figures. Temporary folders hold what they write.
"""
