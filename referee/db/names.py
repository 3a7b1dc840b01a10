"""Validate names that people choose, and detect names that look alike, of which only one may exist."""

import json
import unicodedata
from functools import cache
from importlib.resources import files
from typing import Final

from referee.errors import BadOption

MIN_LENGTH: Final = 2
MAX_LENGTH: Final = 32
MAX_TITLE_LENGTH: Final = 80
MAX_KEY_LENGTH: Final = 128
MAX_SPARE_LENGTH: Final = 80  # of the key in a spare key, which also contains an id
SIGNS: Final = "-_.'&+"
TITLE_SIGNS: Final = "-_.,:;!?'\"&+#/()[]\N{EN DASH}\N{RIGHT SINGLE QUOTATION MARK}"
_CLOSING: Final = ".!?+)]"  # the signs with which a title may end
_OPENING: Final = "([#"  # the signs with which a title may begin

# The code points with the property Default_Ignorable that count as letters although they draw nothing.
_FILLERS: Final = "\N{HANGUL CHOSEONG FILLER}\N{HANGUL JUNGSEONG FILLER}\N{HANGUL FILLER}\N{HALFWIDTH HANGUL FILLER}"

# The small capitals of phonetic alphabets, mapped to their letters.
_SMALL_CAPITALS: Final = str.maketrans("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz")

# Case-folded letters that are easily mistaken for other letters, mapped to those letters. They extend Unicode's table
# of confusable characters and merge more: small letters whose capitals look alike, 5 with s, j with i.
_LOOKALIKES: Final = str.maketrans(
    {
        **dict(zip("авекмнорстухѕіјԛԝһԁъьзбчгп", "abekmhopctyxsijqwhdbb36yrn", strict=True)),  # Cyrillic
        **dict(zip("αβεηικνορτυχγωσ", "abenikvoptuxywo", strict=True)),  # Greek
        **dict(zip("օսհոցքԁզլ", "ouhnggdql", strict=True)),  # Armenian
        **dict(zip("ıɩɡɑʊʟɴʀⅼⅰ", "iigaulnrli", strict=True)),  # Latin, and numerals that look Latin
        **dict(zip("ᎪᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᏒᏚᎢᏙᏔᏃ", "acdeghijklmprstvwz", strict=True)),  # Cherokee
        **dict(zip("ⲁⲃⲉⲏⲓⲕⲙⲛⲟⲣⲥⲧⲩⲭⲍƅꞵ", "abehikmnopctyxzbb", strict=True)),  # Coptic, Latin
        **dict(zip("ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ", "abcdefghijklmnoprstuvwxyz", strict=True)),  # Lisu
        **dict(zip("0158", "olsb", strict=True)),
        "i": "l",
        "j": "l",
        "!": "l",  # the click letter looks like it
        "_": "-",
        " ": "-",
        ".": "-",
        ":": "-",  # some letters look like a colon; keys with a colon belong to house bots
    }
)


def validate_name(text: str, field: str = "name") -> str:
    """Return the name in its canonical form (NFKC). Raise ``BadOption`` for ``field`` when it is not allowed.

    A name has 2 to 32 letters, digits, single spaces and ``SIGNS``, and begins and ends with a letter or a digit.
    """
    name = _normalize(text, field, MAX_LENGTH, SIGNS)
    if not (_is_plain(name[0]) and _is_plain(name[-1])):
        raise BadOption(field, "must begin and end with a letter or a digit")
    return name


def validate_title(text: str, field: str = "name") -> str:
    """Return a title, which need not be unique, in its canonical form (NFKC). Raise ``BadOption`` when not allowed.

    A title has 2 to 80 letters, digits, single spaces and ``TITLE_SIGNS``. It may begin with a bracket or ``#`` and end
    with a bracket or one of ``.!?+``.
    """
    title = _normalize(text, field, MAX_TITLE_LENGTH, TITLE_SIGNS)
    begins, ends = _is_plain(title[0]) or title[0] in _OPENING, _is_plain(title[-1]) or title[-1] in _CLOSING
    if not (begins and ends and any(map(_is_plain, title))):
        raise BadOption(field, "must begin and end with a letter, a digit or a bracket; it may also end with . ! ? +")
    return title


def _normalize(text: str, field: str, longest: int, signs: str) -> str:
    """Return the text in NFKC. Raise ``BadOption`` for a bad length or character, or two spaces in a row."""
    name = unicodedata.normalize("NFKC", text) if len(text) <= 4 * longest else text
    if not MIN_LENGTH <= len(name) <= longest:
        raise BadOption(field, f"must have {MIN_LENGTH} to {longest} characters")
    if not all(_is_plain(sign) or sign == " " or sign in signs for sign in name):
        raise BadOption(field, f"may contain only letters, digits, spaces and the characters {' '.join(signs)}")
    if "  " in name:
        raise BadOption(field, "must have no two spaces in a row")
    return name


def name_key(name: str) -> str:
    """Return a key that is the same for names that may be mistaken for each other.

    Keys are stored, so a change that alters them, such as another version of the table, needs a migration like 0005.
    """
    plain = _remove_accents(unicodedata.normalize("NFKC", name))
    # Readers mistake capitals of other alphabets for the Latin letters that they resemble if the name has Latin
    # letters, or if all of its letters look Latin. Otherwise they read a capital as its own small letter.
    has_latin = any(sign.isascii() and sign.isalpha() for sign in plain)
    if has_latin or plain.translate(_latin_shapes()).isascii():
        plain = plain.translate(_capitals())
    key = _remove_accents(plain.casefold())
    for _ in range(3):  # the longest chain: a capital to its own small letter, to a foreign i, to i, to l
        key = key.translate(_confusables())
    return key.replace("rn", "m").replace("vv", "w")[:MAX_KEY_LENGTH]


def spare_key(key: str, id: str = "") -> str:
    """Return a key for a row that gives up its name. No name has such a key, since it contains a space.

    Without an ``id`` it is the common beginning of all such keys.
    """
    return f"{key[:MAX_SPARE_LENGTH]} {id}"


def make_storable(text: str) -> str:
    """Return the text with replacements for NUL and lone surrogates, which databases cannot store."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


@cache
def _capitals() -> dict[int, str]:
    """Return the Latin letters that capitals of other alphabets look like, keyed by code point."""
    return {point: shape for point, shape in _latin_shapes().items() if chr(point).casefold() != chr(point)}


@cache
def _latin_shapes() -> dict[int, str]:
    """Return the Latin letters that small letters and capitals of other alphabets look like, keyed by code point."""
    return {
        ord(sign): shape
        for sign, shape in _prototypes().items()
        if len(shape) == 1 and shape.isascii() and shape.isalpha()
    }


@cache
def _confusables() -> dict[int, str]:
    """Return look-alikes, keyed by code point: those of letters outside ASCII in Unicode's table, and our own."""
    shapes = {ord(sign): _remove_accents(shape.casefold()) for sign, shape in _prototypes().items()}
    return shapes | _LOOKALIKES


@cache
def _prototypes() -> dict[str, str]:
    """Return the characters that each letter or digit outside ASCII looks like, keyed by that letter or digit.

    The library's own functions only report whether a text is suspicious, so only its table is used. The table has each
    pair in both directions. A character with one partner is the variant, unless its partner has no other one either.
    """
    text = files("confusable_homoglyphs").joinpath("confusables.json").read_text(encoding="utf-8")
    partners = {
        _remove_direction_marks(sign): [_remove_direction_marks(entry["c"]) for entry in entries]
        for sign, entries in json.loads(text).items()
    }
    return {
        sign: shape
        for sign, (shape, *others) in partners.items()
        if len(sign) == 1 and _is_plain(sign) and not sign.isascii() and not others
        if unicodedata.is_normalized("NFKD", sign)  # names are in this form once their accents are removed
        if shape < sign or len(partners[shape]) > 1
    }


def _remove_accents(text: str) -> str:
    """Return the text without accents, which are easily overlooked, and with small capitals as small letters."""
    signs = unicodedata.normalize("NFD", text)
    return "".join(sign for sign in signs if unicodedata.category(sign) != "Mn").translate(_SMALL_CAPITALS)


def _remove_direction_marks(text: str) -> str:
    """Return the text without the left-to-right marks that the table puts next to right-to-left letters."""
    return text.replace("\N{LEFT-TO-RIGHT MARK}", "") or text


def _is_plain(sign: str) -> bool:
    return unicodedata.category(sign) in ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd") and sign not in _FILLERS
