"""A match told in sentences, from the events of its log alone: no rule is applied here.

An event without a sentence of its own is shown as its members, so a new game can be followed at once.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from referee.match.canonical import Json

Teller = Callable[[Json, Sequence[str]], str | None]

SUITS = {"c": "clubs", "d": "diamonds", "h": "hearts", "s": "spades"}


def account(rows: Sequence[Json]) -> Iterator[str]:
    """The lines that tell the match of these rows."""
    header = rows[0]
    names = [player["name"] for player in header["players"]]
    yield f"{header['game']}, match {header['match']}, rules version {header['rules_version']}"
    for seat, name in enumerate(names):
        yield f"  seat {seat}: {name}"
    for row in rows[1:]:
        yield from _about_decision(row, names)
        for event in row.get("events", []):
            yield from _told(header["game"], event, names)
        if row["type"] == "result":
            yield from _about_result(row, names)


def _about_decision(row: Json, names: Sequence[str]) -> Iterator[str]:
    """What the events do not say: why a default was played, and what the bot had to remark."""
    if row["type"] != "decision":
        return
    name = names[row["seat"]]
    if "fault" in row:
        yield f"  ! {name}: {row['fault']}, the default is played"
    if row.get("retired"):
        yield f"  ! {name} is not asked any more, the default is played"
    if row.get("note"):
        yield f"  {name} remarks: {row['note']}"


def _about_result(row: Json, names: Sequence[str]) -> Iterator[str]:
    yield "Result"
    for seat in sorted(range(len(names)), key=lambda seat: (row["placements"][seat], seat)):
        faults = f", {_count(row['faults'][seat], 'fault')}" if row["faults"][seat] else ""
        yield f"  {row['placements'][seat]}. {names[seat]}, score {row['scores'][seat]}{faults}"


def _told(game: str, event: Json, names: Sequence[str]) -> Iterator[str]:
    kind = event["event"]
    teller = _TELLERS.get((game, kind)) or _TELLERS.get(("", kind)) or _plain
    sentence = teller(event, names)
    if sentence:
        yield from sentence.split("\n")


def _plain(event: Json, names: Sequence[str]) -> str:
    """Any event: its name and its members; a seat by who sits there."""
    members = ", ".join(f"{key} {_value(key, value, names)}" for key, value in event.items() if key != "event")
    return f"  {event['event'].replace('_', ' ')}" + (f": {members}" if members else "")


def _value(key: str, value: Any, names: Sequence[str]) -> str:
    if key in ("seat", "dealer", "winner", "leader", "player") and isinstance(value, int) and 0 <= value < len(names):
        return names[value]
    if isinstance(value, list):
        return "[" + " ".join(_value("", item, names) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name} {_value(name, item, names)}" for name, item in value.items()) + "}"
    return "-" if value is None else str(value)


# -- words that several games share --


def _cards(cards: Iterable[str]) -> str:
    return " ".join(cards)


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _each(values: Sequence[Any], names: Sequence[str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))


def _hands(event: Json, names: Sequence[str]) -> str:
    return "\n".join(f"    {name}: {_cards(hand)}" for name, hand in zip(names, event["hands"], strict=True) if hand)


def _match_start(event: Json, names: Sequence[str]) -> str:
    options = ", ".join(f"{name} {value}" for name, value in event["options"].items())
    return f"  options: {options}"


def _nothing(_event: Json, _names: Sequence[str]) -> None:
    """The result row tells it, or a neighbour does."""


# -- saint poker --


def _sp_setup(event: Json, names: Sequence[str]) -> str:
    return f"Round {event['round']}" + (f", on the table {_cards(event['river'])}" if event["river"] else "")


def _sp_reveal(event: Json, names: Sequence[str]) -> str:
    return "  shown: " + _each([_cards(cards) for cards in event["cards"]], names)


def _sp_score(event: Json, names: Sequence[str]) -> str:
    best = event["groups"][0]
    winners = " and ".join(f"{names[seat]} ({event['names'][seat]})" for seat in best)
    verb = "wins" if len(best) == 1 else "share the round and win"
    each = " each" if len(best) > 1 else ""
    return f"  {winners} {verb} {_count(event['points'], 'point')}{each}; now {_each(event['scores'], names)}"


def _sp_draw(event: Json, names: Sequence[str]) -> str:
    return "  drawn for the pickup: " + ", ".join(names[seat] for seat in event["result"])


def _sp_take(event: Json, names: Sequence[str]) -> str:
    source = event["source"]
    owner = "the river" if source == "river" else "its own" if source == event["seat"] else names[source]
    return f"  {names[event['seat']]} takes {event['card']} from {owner}"


# -- pool nap --


def _pn_round(event: Json, names: Sequence[str]) -> str:
    paid = f", puts in {event['dealer_paid']}" if event["dealer_paid"] else ""
    return f"Round {event['round']}: {names[event['dealer']]} deals{paid}; pot {event['pot']}"


def _pn_payout(event: Json, names: Sequence[str]) -> str:
    outcome = "makes it" if event["made"] else "fails"
    pot = f" and the pot of {event['pot_won']}" if event["pot_won"] else ""
    bid = f"  {names[event['seat']]} bid {event['bid']}, took {event['tricks']}, {outcome}{pot}"
    return f"{bid}; now {_each(event['chips'], names)}"


# -- prince albert --


def _pa_motion(event: Json, names: Sequence[str]) -> str:
    by = {"majority": "by majority", "throw": "by the throw", "draw": "by lot"}[event["by"]]
    return f"  {event['motion'].replace('_', ' ')} shall be {event['value']}, {by}"


def _pa_throw(event: Json, names: Sequence[str]) -> str:
    thrown = zip(event["seats"], event["signs"], strict=True)
    return "  " + ", ".join(f"{names[seat]} throws {sign}" for seat, sign in thrown)


def _pa_deal(event: Json, names: Sequence[str]) -> str:
    return f"    {names[event['seat']]}: {_cards(event['down'])}" + (f" | {_cards(event['up'])}" if event["up"] else "")


def _pa_wager(event: Json, names: Sequence[str]) -> str:
    verb = {"check": "checks", "call": "calls", "bet": "bets", "raise": "raises", "fold": "folds"}[event["type"]]
    return f"  {names[event['seat']]} {verb}" + (f", pays {event['chips']}" if event["chips"] else "")


def _pa_contract(event: Json, names: Sequence[str]) -> str:
    bidders = [names[seat] for seat in event["low_bidders"]]
    verb = "plays" if len(bidders) == 1 else "play"
    points, cards = _count(event["stake"], "point"), _count(event["draws"], "card")
    return f"  {' and '.join(bidders)} {verb} for {points}; up to {cards} to draw"


def _pa_exchange(event: Json, names: Sequence[str]) -> str:
    source = "the deck" if event["from"] == "deck" else f"the pile of {names[event['from']]}"
    closed = " face down" if event["pile"] == "down" else ""
    return f"  {names[event['seat']]} discards {event['discard']}{closed}, draws {event['drawn']} from {source}"


def _pa_all_in(event: Json, names: Sequence[str]) -> str:
    who = " and ".join(names[seat] for seat in event["seats"]) or "nobody"
    return f"  all in: {who}"


def _pa_pot(event: Json, names: Sequence[str]) -> str:
    shares = zip(event["seats"], event["shares"], strict=True)
    return f"  of a pot of {event['chips']} " + ", ".join(f"{names[seat]} takes {share}" for seat, share in shares)


def _pa_round_end(event: Json, names: Sequence[str]) -> str:
    winners = [names[seat] for seat in event["winners"]]
    verb = "has" if len(winners) == 1 else "have"
    chips = f"; chips {_each(event['chips'], names)}" if any(event["chips"]) else ""
    return f"  {' and '.join(winners)} {verb} the best hand; now {_each(event['scores'], names)}{chips}"


# -- prisoners --


def _pr_prisoner(event: Json, names: Sequence[str]) -> str:
    if event["to"] is None:
        return f"  nobody gets {event['prisoner']}"
    verb = "wins" if event["how"] == "bid" else "is owed and takes"
    return f"  {names[event['to']]} {verb} {event['prisoner']} for {event['points']}"


# -- rummy royal --

SPACES = {"QK": "queen and king", "seq": "the sequence", "kitty": "the kitty", "pot": "the pot"}


def _rr_draw(event: Json, names: Sequence[str]) -> str:
    dealer = names[event["result"]]
    return f"  {dealer} is drawn to deal first" if event["what"] == "first_dealer" else f"Final deal: {dealer} is drawn"


def _rr_deal(event: Json, names: Sequence[str]) -> str:
    return f"  {names[event['dealer']]} deals:\n{_hands(event, names)}\n    extra hand: {_cards(event['extra'])}"


def _rr_play(event: Json, names: Sequence[str]) -> str:
    verb = "leads" if event["lead"] else "must play"
    return f"    {names[event['seat']]} {verb} {event['card']}"


def _rr_pay(event: Json, names: Sequence[str]) -> str:
    space = event["space"]
    return f"      {names[event['seat']]} takes {_count(event['chips'], 'chip')} for {SPACES.get(space, space)}"


def _rr_deal_end(event: Json, names: Sequence[str]) -> str:
    out = "nobody goes out" if event["winner"] is None else f"{names[event['winner']]} is out"
    return f"  {out}; cards left: {_each(event['cards_left'], names)}; now {_each(event['stacks'], names)}"


def _rr_final_deal(event: Json, names: Sequence[str]) -> str:
    won = ", ".join(f"{names[prize['seat']]} {prize['chips']} with {prize['card']}" for prize in event["won"])
    return f"  {_count(event['dealt'], 'card')} dealt: {won}; now {_each(event['stacks'], names)}"


_TELLERS: dict[tuple[str, str], Teller] = {
    ("", "match_start"): _match_start,
    ("", "match_end"): _nothing,
    ("saint-poker", "deal"): lambda event, names: "  dealt:\n" + _hands(event, names),
    ("saint-poker", "river_setup"): _sp_setup,
    ("saint-poker", "river"): lambda event, names: (
        f"  to the river: {_each(event['cards'], names)}; it reads {_cards(event['river'])}"
    ),
    ("saint-poker", "reveal"): _sp_reveal,
    ("saint-poker", "score"): _sp_score,
    ("saint-poker", "draw"): _sp_draw,
    ("saint-poker", "pickup_order"): lambda event, names: (
        "  pickup in the order " + ", ".join(names[seat] for seat in event["order"])
    ),
    ("saint-poker", "take"): _sp_take,
    ("saint-poker", "discard"): lambda event, names: f"  away: {_cards(event['cards'])}" if event["cards"] else None,
    ("pool-nap", "opening_pot"): lambda event, names: f"  everybody puts in {event['each']}; pot {event['pot']}",
    ("pool-nap", "draw"): lambda event, names: f"  {names[event['result']]} is drawn to deal first",
    ("pool-nap", "round_start"): _pn_round,
    ("pool-nap", "deal"): _hands,
    ("pool-nap", "bid"): lambda event, names: (
        f"  {names[event['seat']]} " + (f"bids {event['tricks']}" if event["tricks"] else "passes")
    ),
    ("pool-nap", "passed_out"): lambda event, names: "  nobody bids",
    ("pool-nap", "contract"): lambda event, names: (
        f"  {names[event['seat']]} plays for {_count(event['tricks'], 'trick')}"
    ),
    ("pool-nap", "trump"): lambda event, names: f"  trumps are {SUITS.get(event['suit'], event['suit'])}",
    ("pool-nap", "play"): lambda event, names: f"    {names[event['seat']]} plays {event['card']}",
    ("pool-nap", "trick"): lambda event, names: f"  trick {event['trick']} to {names[event['winner']]}",
    ("pool-nap", "payout"): _pn_payout,
    ("pool-nap", "out"): lambda event, names: f"  {names[event['seat']]} is out",
    ("prince-albert", "opener"): lambda event, names: f"  {names[event['seat']]} is drawn to open",
    ("prince-albert", "vote"): lambda event, names: (
        f"  on {event['motion'].replace('_', ' ')} they vote {_each(event['votes'], names)}"
    ),
    ("prince-albert", "throw"): _pa_throw,
    ("prince-albert", "motion"): _pa_motion,
    ("prince-albert", "round"): lambda event, names: f"Round {event['round']}, opened by {names[event['opener']]}",
    ("prince-albert", "deck"): _nothing,
    ("prince-albert", "deal"): _pa_deal,
    ("prince-albert", "ante"): lambda event, names: f"  {names[event['seat']]} antes {event['chips']}",
    ("prince-albert", "wager"): _pa_wager,
    ("prince-albert", "bid"): lambda event, names: f"  {names[event['seat']]} bids {event['cards']}",
    ("prince-albert", "pass"): lambda event, names: (
        f"  {names[event['seat']]} " + ("passes" if event["phase"] == "bidding" else "draws no more")
    ),
    ("prince-albert", "contract"): _pa_contract,
    ("prince-albert", "exchange"): _pa_exchange,
    ("prince-albert", "all_in"): _pa_all_in,
    ("prince-albert", "show"): lambda event, names: f"  {names[event['seat']]} shows {_cards(event['cards'])}",
    ("prince-albert", "hide"): lambda event, names: f"  {names[event['seat']]} does not show",
    ("prince-albert", "pot"): _pa_pot,
    ("prince-albert", "round_end"): _pa_round_end,
    ("prisoners", "draw"): lambda event, names: f"  {names[event['result']]} is drawn to deal first",
    ("prisoners", "deal"): lambda event, names: (
        f"Deal {event['deal']}: {names[event['dealer']]} deals\n{_hands(event, names)}"
    ),
    ("prisoners", "turn"): lambda event, names: (
        f"  {event['prisoner']} is turned, of {SUITS.get(event['suit'], 'a suit to be named')}"
    ),
    ("prisoners", "name_suit"): lambda event, names: f"    {names[event['seat']]} names {SUITS[event['suit']]}",
    ("prisoners", "aces"): lambda event, names: f"    {names[event['seat']]} must lay {_cards(event['cards'])}",
    ("prisoners", "claim"): lambda event, names: (
        f"    {names[event['seat']]} is owed {_count(event['jokers'], 'joker')}"
    ),
    ("prisoners", "bid"): lambda event, names: (
        f"    {names[event['seat']]} bids {_cards(event['cards'])}, {event['total']}"
    ),
    ("prisoners", "pass"): lambda event, names: f"    {names[event['seat']]} passes",
    ("prisoners", "prisoner"): _pr_prisoner,
    ("prisoners", "deal_end"): lambda event, names: f"  the deal is over; now {_each(event['scores'], names)}",
    ("rummy-royal", "draw"): _rr_draw,
    ("rummy-royal", "ante"): lambda event, names: (
        f"Deal {event['deal']}: everybody puts {event['each']} on the board, which holds {sum(event['board'].values())}"
    ),
    ("rummy-royal", "deal"): _rr_deal,
    ("rummy-royal", "keep"): lambda event, names: f"  {names[event['seat']]} keeps the hand",
    ("rummy-royal", "sell"): lambda event, names: f"  {names[event['seat']]} keeps the hand and sells the extra one",
    ("rummy-royal", "swap"): lambda event, names: (
        f"  {names[event['seat']]} swaps for the extra hand, {_cards(event['hand'])}"
    ),
    ("rummy-royal", "bid"): lambda event, names: f"  {names[event['seat']]} bids {event['amount']}",
    ("rummy-royal", "pass"): lambda event, names: f"  {names[event['seat']]} passes",
    ("rummy-royal", "sold"): lambda event, names: (
        f"  {names[event['seat']]} buys it for {event['amount']}, {_cards(event['hand'])}"
    ),
    ("rummy-royal", "unsold"): lambda event, names: "  nobody buys it",
    ("rummy-royal", "play"): _rr_play,
    ("rummy-royal", "pay"): _rr_pay,
    ("rummy-royal", "stop"): lambda event, names: f"    a stop at {event['card']}, {event['colour']} is due",
    ("rummy-royal", "no_colour"): lambda event, names: f"    {names[event['seat']]} has no {event['colour']}",
    ("rummy-royal", "deal_end"): _rr_deal_end,
    ("rummy-royal", "final_deal"): _rr_final_deal,
}
