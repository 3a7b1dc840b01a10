"""Draw badges of bots, and preview pictures of pages for sites and programs that show a picture beside a link.

A thread of the scheduler draws pictures (``drawer``): first those that were requested, then those of what has just
happened. ``content_loading`` reads what a picture shows. Requests only read stored pictures
(``pages``).
"""

from referee.events import AccountDeleted, BotDeleted, TournamentErased
from referee.plugs import Extra, PagePlace

EXTRA = Extra(
    name="pictures",
    pages=["referee_extras.pictures.pages:pages", "referee_extras.pictures.badge:pages"],
    places={
        PagePlace.HEAD: "referee_extras.pictures.pages:name_in_head",
        PagePlace.BOT_END: "referee_extras.pictures.badge:section_of_bot",
    },
    metadata="referee_extras.pictures.tables:PicturesTable.metadata",
    tasks={"picture_drawing": "referee_extras.pictures.drawer:start_drawing"},
    events={
        AccountDeleted: "referee_extras.pictures.store:forget_account",
        BotDeleted: "referee_extras.pictures.store:forget_bot",
        TournamentErased: "referee_extras.pictures.store:forget_tournament",
    },
    disk_use="referee_extras.pictures.store:DISK_USE",
)
