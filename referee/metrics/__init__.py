"""Count what processes do, share the counts through Redis, and offer them to Prometheus."""
