"""Talk to a service: requests, saved tokens, event streams, downloads, and looking up bots and tournaments by name."""
