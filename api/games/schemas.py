"""The catalogue of games, and the check of a game's options in what others send."""

from typing import Any

from marshmallow import ValidationError, fields, post_dump, pre_dump

from api.fields import Strict
from referee.errors import BadOption, NoSuchGame
from referee.games import catalogue, game

GAMES = sorted(catalogue())


class OptionView(Strict):
    name = fields.String(required=True)
    type = fields.String(attribute="kind", required=True, metadata={"enum": ["int", "bool", "choice", "list"]})
    default = fields.Raw(
        required=True, metadata={"description": "a whole number, true or false, one or a list of `choices`"}
    )
    minimum = fields.Integer(attribute="low", metadata={"description": "for int"})
    maximum = fields.Integer(attribute="high", metadata={"description": "for int"})
    choices = fields.List(fields.String(), metadata={"description": "for choice and list"})
    help = fields.String(required=True)

    @post_dump
    def leave_out_other_kinds(self, option: dict[str, Any], **_: object) -> dict[str, Any]:
        """Keep the bounds of an int, the choices of a choice or list, and neither for a bool."""
        other = {"int": ["choices"], "bool": ["minimum", "maximum", "choices"]}.get(
            option["type"], ["minimum", "maximum"]
        )
        return {name: value for name, value in option.items() if name not in other}


class SeatsView(Strict):
    minimum = fields.Integer(required=True)
    maximum = fields.Integer(required=True)

    @pre_dump
    def read_range(self, seats: range, **_: object) -> dict[str, int]:
        return {"minimum": seats[0], "maximum": seats[-1]}


class GameView(Strict):
    name = fields.String(required=True)
    rules_version = fields.Integer(required=True)
    seats = fields.Nested(SeatsView, required=True)
    options = fields.List(fields.Nested(OptionView), attribute="option_specs", required=True)


def check_options(name: str, seats: int, given: dict[str, Any], *, seats_field: str) -> None:
    """Refuses options or a number of seats that the game does not know, naming the field."""
    try:
        game(name).start(seats, given)
    except NoSuchGame as error:
        raise ValidationError({"game": [str(error)]}) from None
    except BadOption as error:
        reasons = [error.reason]
        where = {seats_field: reasons} if error.field == "players" else {"options": {error.field: reasons}}
        raise ValidationError(where) from None
