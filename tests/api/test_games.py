"""The catalogue of games over HTTP."""

import re

from referee.games import catalogue, game_title
from referee.rulebook import rules_page
from tests.api.conftest import API, Service
from tests.database.world import GAME, World


def test_the_catalogue_tells_all_a_form_needs_and_rules_are_served_as_they_are_written(service: Service) -> None:
    games = service.anonymous().get(f"{API}/games").get_json()["items"]

    assert {game["name"] for game in games} == catalogue().keys()
    for game in games:
        assert game == service.anonymous().get(f"{API}/games/{game['name']}").get_json()
        assert game["rules_version"] >= 1
        assert 1 <= game["seats"]["minimum"] <= game["seats"]["maximum"]
        for option in game["options"]:
            assert option["help"]
            match option["type"]:
                case "int":
                    assert option["minimum"] <= option["default"] <= option["maximum"]
                case "bool":
                    assert isinstance(option["default"], bool)
                case "choice":
                    assert option["default"] in option["choices"]
                case "list":
                    assert set(option["default"]) <= set(option["choices"])
        options = {option["name"]: option["default"] for option in game["options"]}
        assert not catalogue()[game["name"]].start(game["seats"]["minimum"], options).over
        rules = service.anonymous().get(f"{API}/games/{game['name']}/rules")
        assert (rules.status_code, rules.content_type) == (200, "text/markdown; charset=utf-8")
        assert rules.text == rules_page(game["name"])


def test_the_page_of_games_says_what_each_is_about_and_what_is_played_of_it(service: Service) -> None:
    world = World(service.database)
    bots = world.bots(2)
    world.play(bots)
    world.match(bots)
    world.claim(1)

    page = service.anonymous().get("/games").text

    cards = re.findall(r'<li class="card game">(.*?)</li>', page, re.DOTALL)
    for (name, rules), card in zip(catalogue().items(), cards, strict=True):
        title, about, seats, *played = filter(None, map(str.strip, re.split(r"<[^>]*>", card)))
        sizes = f"{rules.seats[0]} to {rules.seats[-1]} seats"
        assert (title, seats) == (game_title(name), sizes)
        first = " ".join(rules_page(name).split("\n\n")[1].replace("*", "").split())
        assert first == f"{about} The game is for {sizes}. This page describes rules version {rules.rules_version}."
        assert played == (["1 ladder", "1 match in progress"] if name == GAME else [])


def test_a_game_that_is_not_there_is_not_found(service: Service) -> None:
    for path in ("whist", "whist/rules", "..%2f..%2fREADME/rules", "saint-poker/rules/more"):
        answer = service.anonymous().get(f"{API}/games/{path}")

        assert (answer.status_code, answer.get_json()["code"]) == (404, "not_found"), path
