"""Keep what the search finds: a document for each public bot, owner and tournament.

The code that changes a name calls ``put_document`` in the same transaction. Documents consist of words in a plain form,
so both databases index exactly the same words: SQLite in the FTS5 table ``search_index``, which triggers keep up to
date with the documents, PostgreSQL in an index over the expression ``INDEXED_WORDS``. The extra
``search`` answers queries.
"""

import unicodedata
from typing import Final

from sqlalchemy import Text, UniqueConstraint, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from referee.db.base import AutoIncrement, Base, Id, StoredEnum, one_of
from referee.db.kinds import SearchKind

MAX_WORD_LENGTH: Final = 64
INDEXED_WORDS: Final = "array_to_tsvector(string_to_array(words, ' '))"  # on PostgreSQL
_SORTED_TEXT: Final = Text().with_variant(Text(collation="C"), "postgresql")  # sorted by code point, as on SQLite


class SearchDocument(Base):
    """Store the words by which a bot, an owner or a tournament is found."""

    __tablename__ = "search_documents"
    __table_args__ = (one_of("kind", SearchKind), UniqueConstraint("kind", "object_id"))

    number: Mapped[int] = mapped_column(AutoIncrement, primary_key=True)
    kind: Mapped[SearchKind] = mapped_column(StoredEnum(SearchKind))
    object_id: Mapped[str] = mapped_column(Id)
    name: Mapped[str] = mapped_column(_SORTED_TEXT)  # the words of the name, in order, separated by spaces
    words: Mapped[str] = mapped_column(Text)  # all words, those of the name included


def put_document(
    session: Session, kind: SearchKind, object_id: str, name: str, *more: str | None, is_new: bool = False
) -> None:
    """Let the search find an object by its name and by the texts in ``more``, and no longer by earlier ones."""
    name_words = " ".join(split_words(name))
    words = " ".join(split_words(" ".join([name, *filter(None, more)])))
    of_object = select(SearchDocument).where(SearchDocument.kind == kind, SearchDocument.object_id == object_id)
    document = None if is_new else session.scalar(of_object)
    if document is None:
        session.add(SearchDocument(kind=kind, object_id=object_id, name=name_words, words=words))
    else:
        document.name, document.words = name_words, words
    session.flush()


def split_words(text: str) -> list[str]:
    """Return the words of a text in order, without case and accents. All other characters separate words.

    Documents have these words, so a change needs a migration that computes them again.
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    spaced = "".join(sign if sign.isalnum() else " " for sign in plain if unicodedata.category(sign)[0] != "M")
    return [word[:MAX_WORD_LENGTH] for word in spaced.split()]
