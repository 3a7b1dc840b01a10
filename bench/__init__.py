"""Measure performance with programs that print one line of JSON, such as ``python -m bench.engine``.

``docs/performance.md`` quotes their figures. They write only to temporary folders.
"""
