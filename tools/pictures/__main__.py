"""Draw the standard preview pictures and the icons of the web app: ``python -m tools.pictures``.

The files are committed, because sites fetch them before anything could be drawn. Run this after a change of the
drawing, of the logo, or of resvg.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from referee import viewer
from referee_extras.pictures.contents import PictureContent
from referee_extras.pictures.drawing import draw_svg, rasterize
from referee_extras.pictures.tables import PictureKind

ROOT: Final = Path(__file__).parents[2]
SITE: Final = "api/static/site"
PREVIEWS: Final = "referee_extras/pictures/static/pictures"
TEXTS: Final = {  # title and line
    PictureKind.MATCH: ("A match of bots", "Card by card, with a log that anyone can verify"),
    PictureKind.BOT: ("A bot that plays cards", "Ratings, results and matches"),
    PictureKind.TOURNAMENT: ("A tournament of bots", "Standings, rounds and matches, live"),
    PictureKind.LADDER: ("A ladder of bots", "Ratings with their errors, after every match"),
}
HANDS: Final = {
    PictureKind.MATCH: ("Ah", "Kc", "Qh", "Js", "Td"),
    PictureKind.BOT: ("Jc", "Js", "Jd", "Jh"),
    PictureKind.TOURNAMENT: ("9s", "Ts", "Js", "Qs", "Ks"),
    PictureKind.LADDER: ("2h", "3h", "4h", "5h", "6h"),
}
ICON_SIZES: Final = (192, 512)
SAFE: Final = 0.95  # part of a maskable icon that the logo takes, so that its card is within the circle that remains


def main() -> None:
    for name, content in draw_files():
        (ROOT / name).write_bytes(content)


def draw_files() -> Iterator[tuple[str, bytes]]:
    """Yield the path in the project and the content of each file."""
    for kind, (title, line) in TEXTS.items():
        drawn = draw_svg(PictureContent(label=kind.capitalize(), title=title, subject="", lines=[line]))
        yield f"{PREVIEWS}/preview-{kind}.png", rasterize(drawn.removesuffix("</svg>") + fan(HANDS[kind]) + "</svg>")
    logo = (ROOT / SITE / "icon.svg").read_text()
    for size in ICON_SIZES:
        yield f"{SITE}/icon-{size}.png", rasterize(logo, width=size)
        yield f"{SITE}/icon-maskable-{size}.png", rasterize(_on_full_ground(logo), width=size)


def fan(cards: tuple[str, ...]) -> str:
    """Return these cards as a fan at the bottom of a preview picture."""
    middle = (len(cards) - 1) / 2
    return "".join(
        f'<g transform="translate({600 + (place - middle) * 128:.0f} {500 + abs(place - middle) ** 2 * 12:.0f}) '
        f'rotate({(place - middle) * 7:.0f}) translate(-110 -154)">{_card(name, place)}</g>'
        for place, name in enumerate(cards)
    )


def _card(name: str, place: int) -> str:
    """Return a card as a part of a drawing. Ids are made distinct, since each card defines its own."""
    drawn = (viewer.FOLDER / "cards" / f"{name}.svg").read_text()
    drawn = re.sub(r'\bid="([^"]+)"', rf'id="c{place}-\1"', drawn)
    drawn = re.sub(r'href="#([^"]+)"', rf'href="#c{place}-\1"', drawn)
    drawn = re.sub(r"url\(#([^)]+)\)", rf"url(#c{place}-\1)", drawn)
    start, end = drawn.index("<svg"), drawn.index(">")
    head = re.sub(r' (?:width|height)="[^"]*"', "", drawn[start:end])
    return f'{head} width="220" height="308"{drawn[end:]}'


def _on_full_ground(logo: str) -> str:
    """Return the logo, smaller, on a ground that fills the icon."""
    inner = logo[logo.index(">") + 1 : logo.rindex("</svg>")]
    shift = 32 * (1 - SAFE) / 2
    ground = '<rect width="32" height="32" fill="#14543a"/>'
    placed = f'<g transform="translate({shift:.2f} {shift:.2f}) scale({SAFE})">{inner}</g>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" width="32" height="32">{ground}{placed}</svg>'


if __name__ == "__main__":
    main()
