"""Extras of the service: each is a folder that can be deleted together with its name in this list."""

from typing import Final

EXTRAS: Final = ("feeds", "series")  # in the order in which they appear at places on pages and in the API's document
