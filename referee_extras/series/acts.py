"""List the kinds of acts of those who run series."""

from enum import StrEnum


class SeriesAct(StrEnum):
    CREATED = "series.created"
    EDITED = "series.edited"
    DELETED = "series.deleted"
    TOURNAMENT_ADDED = "series.tournament_added"
    TOURNAMENT_REMOVED = "series.tournament_removed"
    ORGANISER_ADDED = "series.organiser_added"
    ORGANISER_REMOVED = "series.organiser_removed"
