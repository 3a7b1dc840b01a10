"""The stored ratings of the house players."""

from referee.games import catalogue
from referee.house.calibration import load_ratings


def test_the_stored_ratings_hold_every_game_with_level_3_at_1500_and_levels_in_order() -> None:
    ratings = load_ratings()

    for name, rules in catalogue().items():
        own = [rating for rating in ratings if rating.game == name]
        assert [rating.level for rating in own] == [1, 2, 3, 4], name
        assert (own[2].rating, own[2].error) == (1500, 0)
        assert [rating.rating for rating in own] == sorted(rating.rating for rating in own), name
        assert {(rating.seats, rating.rules_version) for rating in own} == {(rules.standard_seats, rules.rules_version)}
        assert rules.standard_seats in rules.seats
