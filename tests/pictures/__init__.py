"""Preview pictures: what is drawn, in which fonts."""
