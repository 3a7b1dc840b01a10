"""Play matches between Python functions, house players, files and URLs in one call, and show them in a notebook."""

from referee_extras.notebook.functions import CannotPlay, play

__all__ = ["CannotPlay", "play"]
