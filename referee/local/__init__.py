"""Play matches and tournaments on this machine without a service."""
