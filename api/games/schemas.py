"""Define the schemas of the catalogue of games, and validate options in requests."""

from typing import Any

from marshmallow import ValidationError, post_dump, pre_dump

from api import fields
from api.fields import View
from referee.errors import BadOption, NoSuchGame
from referee.games import catalogue, game

GAMES = sorted(catalogue())


class OptionView(View):
    optional = ("minimum", "maximum", "choices")

    name = fields.String()
    type = fields.String(attribute="kind", metadata={"enum": ["int", "bool", "choice", "list"]})
    default = fields.Raw("An integer, a boolean, one of `choices`, or a list of them.")
    minimum = fields.Integer("Least value, only for options of type int.", attribute="low")
    maximum = fields.Integer("Greatest value, only for options of type int.", attribute="high")
    choices = fields.List(fields.String(), "Possible values, only for options of type choice and list.")
    help = fields.String()

    @post_dump
    def leave_out_other_kinds(self, option: dict[str, Any], **_: object) -> dict[str, Any]:
        """Keep the bounds of an int option, the choices of a choice or list option, and neither for a bool option."""
        other = {"int": ["choices"], "bool": ["minimum", "maximum", "choices"]}.get(
            option["type"], ["minimum", "maximum"]
        )
        return {name: value for name, value in option.items() if name not in other}


class SeatsView(View):
    minimum = fields.Integer()
    maximum = fields.Integer()

    @pre_dump
    def read_range(self, seats: range, **_: object) -> dict[str, int]:
        return {"minimum": seats[0], "maximum": seats[-1]}


class GameView(View):
    name = fields.String()
    rules_version = fields.Integer()
    seats = fields.Nested(SeatsView)
    options = fields.List(fields.Nested(OptionView), attribute="option_specs")


def check_options(name: str, seats: int, given: dict[str, Any], *, seats_field: str) -> None:
    """Raise a ``ValidationError`` that names the field if the game refuses the options or number of seats."""
    try:
        game(name).start(seats, given)
    except NoSuchGame as error:
        raise ValidationError({"game": [str(error)]}) from None
    except BadOption as error:
        reasons = [error.reason]
        where = {seats_field: reasons} if error.field == "players" else {"options": {error.field: reasons}}
        raise ValidationError(where) from None
