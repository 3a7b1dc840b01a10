"""The conformity matches of all games: the same chance and choices always give the same events, views and choices.

The events are frozen by the first digest. The second one covers what each seat and the public see of them, the
observations, legal lists, defaults and forced moves. A change of the rules has to change both on purpose.
"""

from collections.abc import Callable
from functools import partial
from random import Random

import pytest

from referee.games import game
from referee.match.canonical import Json
from tests.games.conformity import conformity_match, digest, generator, in_turn, outcome
from tests.games.playing import fresh, random_outcome

TEN: Json = {"forced_bid": "free", "max_rounds": 10}
CHIPS: Json = {**TEN, "cash": True, "rank_by": "chips"}
STRICT: Json = {"showing": "all", "ties": "lose", "max_rounds": 10}
VOTED: Json = {**TEN, "vote": ["forced_bid", "showing", "ties"]}
LAST: Json = {"ending": "last_player", "start_chips": 10, "round_cap": 60}
STAY: Json = {"min_bid": 2, "first_dealer_pays": True, "pot_end": "stay"}


@pytest.mark.parametrize(
    ("name", "seats", "options", "seed", "expected"),
    [
        ("pool-nap", 2, {}, 11, "a5ad2aec3e1df674 169ad11f3be307b5"),
        ("pool-nap", 3, {}, 12, "d9252e44247e5b4d 2ed3d8cee9999c64"),
        ("pool-nap", 5, {"all_pass": "dealer_bids", "bid_cover": False}, 13, "d7bbeeef11fa573a 82a9ed434bde1740"),
        ("pool-nap", 4, LAST, 14, "f96018460155752c 6c2570927fa7fd7a"),
        ("pool-nap", 10, STAY, 15, "5a8a80b2772988e6 c8ce1e1ce6fd597e"),
        ("prince-albert", 2, TEN, 4, "c225727471dcfc9f 7d2f8d6b53045612"),
        ("prince-albert", 3, TEN, 62, "882d287dce0c2923 976d38cd90ac19da"),
        ("prince-albert", 4, TEN, 251, "ccd91336d7beb75e 2af1ae3556573d45"),
        ("prince-albert", 5, TEN, 17, "c71afe05326dba13 ab7a891e59576a1f"),
        ("prince-albert", 4, {**TEN, "holdem": True}, 228, "a7926406505f6594 1038ffdff06bf1f1"),
        ("prince-albert", 3, STRICT, 49, "b421fbce7b098b1e 6cbb142eb4e4128f"),
        ("prince-albert", 4, {**TEN, "cash": True}, 201, "49cae93b330534d2 af3f6470d872e3c9"),
        ("prince-albert", 5, {**CHIPS, "holdem": True, "point_value": 2}, 62, "655800b472825322 cf6cd149b1d14df5"),
        ("prince-albert", 3, {**CHIPS, "stack": 20}, 256, "efc4dc2247e34bb0 31342a1c977589bb"),
        ("prince-albert", 4, VOTED, 102, "6b3ecf31cd2b784f 1be9ca132c336154"),
        ("prisoners", 2, {}, 11, "fb79b24e0b480e92 bd96dc24742b25ce"),
        ("prisoners", 3, {"bidding": "single"}, 11, "bf4efc4fc398389f be2c313eff1e0405"),
        ("prisoners", 4, {"direction": "anticlockwise"}, 68, "ac5b6d4959b96221 386bc547dcbaa049"),
        ("prisoners", 4, {"decks": 2}, 12, "19724b00ae2cf4a1 8e37a1be98e7d4c9"),
        ("prisoners", 5, {"deals": 2}, 13, "a637d862b0d1073d 9ab1d92f52ba5af5"),
        ("prisoners", 7, {}, 13, "7c59192f78364497 95a7a2b6cd70d878"),
        ("prisoners", 10, {"bidding": "single"}, 12, "4ca8ac8fc7d21b03 5a916ce92404030c"),
        ("rummy-royal", 2, {}, 11, "decadd7dc02b3c1e b8cc8705e805f538"),
        ("rummy-royal", 3, {"sequence": "89T"}, 2, "ba32ad0fc37b3fec 537681764e5a494e"),
        ("rummy-royal", 4, {"deals": 5}, 55, "44f28b7e9a47816d 6345bc321acb5c56"),
        ("rummy-royal", 5, {"ante": 2, "stack": 50}, 44, "8d22e54a45d88edd 41272d14f5e158c3"),
        ("rummy-royal", 7, {"dealer_looks": False}, 11, "c8a54eda5a687317 7fd187fe76747655"),
        ("rummy-royal", 9, {"max_bid": 3, "deals": 9}, 17, "e95242504ff0ad51 adead8232ba549b9"),
        ("saint-poker", 2, {}, 11, "614261769d729551 3cfaf2ae2e86c3c5"),
        ("saint-poker", 3, {}, 12, "8c128cc9f487954a e2760e6bf51d8497"),
        ("saint-poker", 4, {"final_pickup": False}, 13, "6ff5ef51d21d78d5 9a511edfcc525809"),
        ("saint-poker", 5, {}, 14, "396c215fb4e50541 7b6316122582dcfb"),
        ("saint-poker", 5, {"rounds": 3}, 15, "b5e56379c037ff8f 059b6ace219854a0"),
    ],
)
def test_conformity(name: str, seats: int, options: Json, seed: int, expected: str) -> None:
    drawn = generator(seed + 1000)  # in Prince Albert, choices in turn would end most rounds early
    choose = (lambda number, count: drawn(count)) if name == "prince-albert" else in_turn

    below = generator(seed)
    found = conformity_match(game(name).start(seats, options), lambda asked: outcome(asked, below), choose)

    assert " ".join(found) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("pool-nap", "a13fd1dcd6254d66"),
        ("prince-albert", "d7c61d99cddcd70e"),
        ("prisoners", "23cc99f6b1368daf"),
        ("rummy-royal", "f094f3051e2a3f1f"),
        ("saint-poker", "aaba9a2b112be8c4"),
    ],
)
def test_matches_with_any_options_and_rigged_decks_stay_the_same(name: str, expected: str) -> None:
    digests = [
        digest_of.encode()
        for state, dice in fresh(name, count=40)
        for digest_of in conformity_match(state, partial(random_outcome, rng=dice), often_the_first(dice))
    ]

    assert digest(digests) == expected


def often_the_first(dice: Random) -> Callable[[int, int], int]:
    return lambda _, count: dice.choice((0, dice.randrange(count)))
