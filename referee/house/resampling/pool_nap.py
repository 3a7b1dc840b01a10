"""Draw positions of Pool Nap: other hands from the unseen cards, without suits that a seat has failed to follow."""

from random import Random

from referee.games.cards import DECK, in_order
from referee.games.pool_nap import PoolNap
from referee.games.state import Json
from referee.house.resampling.dealing import deal


def resample(seen: Json, chance: Random) -> PoolNap:
    """Return a random position in which the asked seat sees this observation."""
    own, played = seen["seat"], [entry for trick in _tricks(seen) for entry in trick]
    known = {*seen["hand"], *(entry["card"] for entry in played)}
    unseen = [card for card in DECK if card not in known]
    sizes = [0 if seat == own else size for seat, size in enumerate(seen["hand_sizes"])]
    *hands, aside = deal(unseen, [*sizes, len(unseen) - sum(sizes)], chance, _suits_run_out(seen))
    hands[own] = seen["hand"]
    lists: Json = {name: [*seen[name]] for name in ("chips", "out_round", "bids", "trick", "tricks", "tricks_won")}
    state = PoolNap(
        seen["players"],
        seen["options"],
        phase=seen["phase"],
        aside=aside,
        hands=[in_order(hand) for hand in hands],
        **{name: seen[name] for name in ("pot", "round", "dealer", "bid", "bidder", "trump")},
        **lists,
    )
    state.order = [seat for seat in state.seats_from(seen["dealer"] + 1) if seen["out_round"][seat] is None]
    place, done = state.order.index(own), seen["bids"] if seen["phase"] == "bid" else seen["trick"]
    state.queue = (state.order[place:] + state.order[:place])[: len(state.order) - len(done)]
    return state


def _tricks(seen: Json) -> list[list[Json]]:
    return [*(trick["cards"] for trick in seen["tricks"]), seen["trick"]]


def _suits_run_out(seen: Json) -> list[set[str]]:
    """Return, by seat, all cards of the suits that this seat did not follow."""
    never: list[set[str]] = [set() for _ in range(seen["players"])]
    for trick in _tricks(seen):
        for entry in trick[1:]:
            led = trick[0]["card"][1]
            if entry["card"][1] != led:
                never[entry["seat"]] |= {card for card in DECK if card[1] == led}
    return never
