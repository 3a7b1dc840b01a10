"""Series: tournaments of any games whose ranks bring points in common standings."""
