"""Names people give to things: which are allowed, and which look so alike that only one may exist."""

import unicodedata
from typing import Final

from referee.errors import BadOption

SHORTEST: Final = 3
LONGEST: Final = 32
_PUNCTUATION: Final = " -_."

# Letters that pass for others at a glance, each by the one it is mistaken for; after case-folding.
_LOOKALIKES: Final = str.maketrans(
    {
        **dict(zip("авекмнорстухѕіјԛԝһԁъьзбчгп", "abekmhopctyxsijqwhdbb36yrn", strict=True)),  # Cyrillic
        **dict(zip("αβεηικνορτυχγωσ", "abenikvoptuxywo", strict=True)),  # Greek
        **dict(zip("օսհոցքԁզլ", "ouhnggdql", strict=True)),  # Armenian
        **dict(zip("ıɩɡɑʊʟɴʀⅼⅰ", "iigaulnrli", strict=True)),  # Latin, and numerals that look Latin
        **dict(zip("ᎪᏟᎠᎬᏀᎻᎥᎫᏦᏞᎷᏢᏒᏚᎢᏙᏔᏃ", "acdeghijklmprstvwz", strict=True)),  # Cherokee
        **dict(zip("ꓮꓐꓚꓓꓰꓝꓖꓧꓲꓙꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬꓜ", "abcdefghijklmnoprstuvwxyz", strict=True)),  # Lisu
        **dict(zip("0158", "olsb", strict=True)),
        "i": "l",
        "j": "l",
        "_": "-",
        " ": "-",
        ".": "-",
    }
)
# Among Latin letters they pass for others than their small forms do.
_GREEK_CAPITALS: Final = str.maketrans({"\N{GREEK CAPITAL LETTER ETA}": "H", "\N{GREEK CAPITAL LETTER NU}": "N"})


def checked_name(text: str, field: str = "name") -> str:
    """The name in its canonical spelling; raises ``BadOption`` naming ``field`` when it is not allowed.

    3 to 32 letters, digits, single blanks and ``-_.``, beginning and ending with a letter or a digit.
    """
    name = unicodedata.normalize("NFKC", text) if len(text) <= 4 * LONGEST else text
    if not SHORTEST <= len(name) <= LONGEST:
        raise BadOption(field, f"must have {SHORTEST} to {LONGEST} characters")
    if not all(_is_plain(sign) or sign in _PUNCTUATION for sign in name):
        raise BadOption(field, "may hold only letters, digits, blanks and the signs - _ .")
    if not (_is_plain(name[0]) and _is_plain(name[-1])) or "  " in name:
        raise BadOption(field, "must begin and end with a letter or a digit and hold no two blanks in a row")
    return name


def name_key(name: str) -> str:
    """What two names share when one may be mistaken for the other."""
    # Accents are dropped too: they are easily overlooked.
    plain = unicodedata.normalize("NFKC", name)
    if any(sign.isascii() and sign.isalpha() for sign in plain):
        plain = plain.translate(_GREEK_CAPITALS)
    folded = unicodedata.normalize("NFD", plain.casefold())
    bare = "".join(_small(sign) for sign in folded if unicodedata.category(sign) != "Mn")
    key = bare.translate(_LOOKALIKES).translate(_LOOKALIKES)  # twice: an alien i is an i, and an i an l
    return key.replace("rn", "m").replace("vv", "w")


def printable(text: str) -> str:
    """Text that both databases can hold: no NUL, no lone surrogates."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def _small(sign: str) -> str:
    """The letter that a small capital, of phonetic alphabets, passes for; else the sign."""
    shape = unicodedata.name(sign, "").removeprefix("LATIN LETTER SMALL CAPITAL ")
    return shape.lower() if len(shape) == 1 else sign


def _is_plain(sign: str) -> bool:
    return unicodedata.category(sign) in ("Lu", "Ll", "Lt", "Lm", "Lo", "Nd")
