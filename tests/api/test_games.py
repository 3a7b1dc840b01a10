"""The catalogue of games over HTTP."""

from referee.games import catalogue
from referee.rulebook import rules_page
from tests.api.conftest import API, Service


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


def test_a_game_that_is_not_there_is_not_found(service: Service) -> None:
    for path in ("whist", "whist/rules", "..%2f..%2fREADME/rules", "saint-poker/rules/more"):
        answer = service.anonymous().get(f"{API}/games/{path}")

        assert (answer.status_code, answer.get_json()["code"]) == (404, "not_found"), path
