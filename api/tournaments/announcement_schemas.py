"""Define the fields of what an organiser says about a tournament."""

from marshmallow import fields

from api.fields import CheckedText, Strict, View, describe
from referee.db.texts import MAX_LINK_LENGTH, validate_link
from referee.tournaments import announcement

ABOUT = {
    "description": "Text in Markdown, shown on the page of the tournament. HTML and images are not rendered. Null for "
    "none.",
    "link": "An https or http URL, such as that of the organiser's own page; shown as a link and never fetched. "
    "Null for none.",
    "contact": "How to reach the organiser, on one line. Null for none.",
    "prizes": "What can be won, on one line. Null for none.",
}


class AnnouncementBody(Strict):
    """Describe in a request what an organiser says about a tournament."""

    description = CheckedText(
        announcement.validate_description, announcement.MAX_DESCRIPTION_LENGTH, ABOUT["description"]
    )
    link = CheckedText(validate_link, MAX_LINK_LENGTH, ABOUT["link"])
    contact = CheckedText(announcement.ANNOUNCEMENT["contact"], announcement.MAX_CONTACT_LENGTH, ABOUT["contact"])
    prizes = CheckedText(announcement.ANNOUNCEMENT["prizes"], announcement.MAX_PRIZES_LENGTH, ABOUT["prizes"])


class AnnouncementView(View):
    description = fields.String(allow_none=True, metadata=describe(ABOUT["description"]))
    link = fields.String(allow_none=True, metadata=describe(ABOUT["link"]))
    contact = fields.String(allow_none=True, metadata=describe(ABOUT["contact"]))
    prizes = fields.String(allow_none=True, metadata=describe(ABOUT["prizes"]))
