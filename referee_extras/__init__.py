"""Extras of the service: each is a folder that can be deleted together with its name in this list."""

from typing import Final

# In this order they appear at places on pages, in the document of the API, and in transactions.
EXTRAS: Final = (
    *("search", "exchanges", "feeds", "series", "analysis", "hall", "pictures", "notifications"),
    *("decisions", "demo", "calibration", "local_tournaments", "log_downloads", "classes", "keys", "doctor", "backups"),
    "retention",
)

# These plug in nothing: programs of bot authors and researchers import them.
LIBRARIES: Final = ("gym", "notebook", "sdk")
