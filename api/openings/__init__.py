"""Openings of deals that ended without a deal: the list, as an API and as a page."""
