"""Score whole matches a second time, from their events and the tables of the rules pages, without the engine."""

from collections.abc import Callable
from typing import Any

from referee.games.cards import RANK
from referee.games.poker import rank
from referee.match.canonical import Json

PAY_CARDS = ("Th", "Jh", "Qh", "Kh", "Ah")


def pool_nap(log: list[Json]) -> list[int]:
    """Settle tricks, bids and the pot (PN-12 to PN-18)."""
    options, seats = log[0]["options"], range(log[0]["players"])
    chips, pot = [options["start_chips"] for _ in seats], 0
    for event in log:
        match event:
            case {"event": "opening_pot"}:
                chips, pot = [own - options["ante"] for own in chips], options["ante"] * len(seats)
            case {"event": "round_start", "dealer": dealer, "dealer_paid": paid}:
                pays = event["round"] > 1 or options["first_dealer_pays"]
                assert paid == (min(options["ante"], chips[dealer]) if pays else 0)
                chips[dealer] -= paid
                pot += paid
                taken, trick = [0 for _ in seats], dict[str, int]()
            case {"event": "trump", "suit": trump}:
                pass
            case {"event": "play", "seat": seat, "card": card}:
                trick[card] = seat
            case {"event": "trick"}:
                led = next(iter(trick))[1]
                best = max(trick, key=lambda card: (card[1] == trump, card[1] == led, RANK[card]))
                taken[trick[best]] += 1
                trick = {}
            case {"event": "payout", "seat": bidder, "bid": bid, "payments": payments}:
                others = [end for pay in payments for end in pay[:2] if end != bidder]  # clockwise from the bidder
                if taken[bidder] >= bid:
                    paid = [-min(bid, chips[other]) for other in others]
                else:
                    each, odd = divmod(min(bid * len(others), chips[bidder]), len(others))
                    paid = [each + (place < odd) for place in range(len(others))]
                for other, gain in zip([*others, bidder], [*paid, -sum(paid)], strict=True):
                    chips[other] += gain
                stake = 0 if bid < 5 else -pot if taken[bidder] == 5 else min(pot, chips[bidder])
                chips[bidder], pot = chips[bidder] - stake, pot + stake
                assert (event["chips"], event["pot"]) == (chips, pot)
    left = [seat for seat in seats if chips[seat]]
    share = pot // len(left) if options["pot_end"] == "split" else 0
    return [own + share * (own > 0) for own in chips]


def prince_albert(log: list[Json]) -> list[int]:
    """Follow the table of stakes and bonuses, and divide the pot (PA-10, PA-11, PA-18, PA-20, PA-32, PA-34)."""
    options, players = {**log[0]["options"]}, log[0]["players"]
    points, bonus = [0] * players, 3 if players == 5 else 2
    for event in log:
        match event:
            case {"event": "motion", "motion": option, "value": value}:
                options[option] = value
            case {"event": "round", "opener": first, "chips": chips}:
                low, all_in, stake, shown = list[int](), list[int](), 0, dict[int, Any]()
                left, paid = {*range(players)}, [0] * players
            case {"event": "ante" | "wager", "seat": seat, "chips": chips_paid}:
                paid[seat] += chips_paid
                left -= {seat} if event.get("type") == "fold" else set()
            case {"event": "contract", "low_bidders": low, "bid": bid}:
                first, stake = low[0], (8, 7, 6, 5, 4, 3, 2, 1, 1)[bid]
            case {"event": "all_in", "seats": all_in}:
                pass
            case {"event": "show", "seat": seat, "cards": cards}:
                shown[seat] = rank(cards)
            case {"event": "round_end"}:
                order = [seat % players for seat in range(first, first + players) if seat % players in left]
                best = order if len(order) == 1 else best_shown(order, shown)
                for seat in range(players):
                    tied = seat in best and options["ties"] == "push"
                    result = "won" if best == [seat] else "pushed" if tied else "lost"
                    if seat in low:
                        points[seat] += {"won": stake, "pushed": 0, "lost": -stake}[result]
                    elif seat in all_in:
                        points[seat] = {"won": 2 * points[seat] + bonus, "pushed": points[seat] + bonus, "lost": 0}[
                            result
                        ]
                    elif seat in best:
                        points[seat] += bonus
                gains = divide_pot(order, paid, shown)
                chips = [own - put + gain for own, put, gain in zip(chips, paid, gains, strict=True)]
                assert (event["winners"], event["scores"], event["chips"]) == (best, points, chips)
    return points


def divide_pot(order: list[int], paid: list[int], shown: dict[int, Any]) -> list[int]:
    """Return what each seat gets of the pot. The seats in ``order`` are still in, and get odd chips in this order."""
    gains, tops = [0 for _ in paid], sorted({paid[seat] for seat in order} - {0})
    for below, top in zip([0, *tops], tops, strict=False):
        layer = sum(min(put, top) - min(put, below) for put in paid)
        rivals = [seat for seat in order if paid[seat] >= top]
        takers = best_shown(rivals, shown) or rivals
        for place, seat in enumerate(takers):
            gains[seat] += layer // len(takers) + (place < layer % len(takers))
    return gains


def best_shown(seats: list[int], shown: dict[int, Any]) -> list[int]:
    """Return those of the seats whose hands are shown and not beaten by another of them."""
    best = max((shown[seat] for seat in seats if seat in shown), default=None)
    return [seat for seat in seats if seat in shown and shown[seat] == best]


def prisoners(log: list[Json]) -> list[int]:
    """Count bids by the table, hand over jokers that are owed, and add the points (PR-11, PR-13 to PR-15)."""
    scores = [0] * log[0]["players"]
    for event in log:
        match event:
            case {"event": "deal"}:
                claims, suit, jokers = list[int](), None, 0
            case {"event": "turn", "prisoner": prisoner}:
                jokers += prisoner[0] == "X"
                suit = suit if prisoner[0] == "X" else prisoner[1]
                assert event["suit"] == suit
                highest, bidder = 0, None
            case {"event": "name_suit", "suit": suit}:
                pass
            case {"event": "aces", "seat": seat, "cards": cards}:
                claims += [seat] * (len(cards) - 2)
            case {"event": "bid", "seat": seat, "cards": cards, "total": total}:
                ranks, ours = {card[0] for card in cards}, {card[1] for card in cards} & {suit}
                values = [11 if card[0] == "A" else RANK[card] for card in cards]
                if all(card[1] == suit for card in cards):
                    expected = sum(values)
                else:
                    expected = values[0] * len(cards) if ours else values[0] + len(cards)
                assert total == expected > highest
                highest, bidder = total, seat
                if ranks == {"A"} and len(cards) > 2 and ours and not jokers:
                    claims += [seat] * (len(cards) - 2)
            case {"event": "prisoner", "prisoner": prisoner, "to": to}:
                assert to == (claims.pop(0) if claims and prisoner[0] == "X" else bidder)
                if to is not None:
                    scores[to] += {"J": 50, "Q": 100, "K": 150, "X": 200}[prisoner[0]]
            case {"event": "deal_end"}:
                assert event["scores"] == scores
    return scores


def rummy_royal(log: list[Json]) -> list[int]:
    """Pay the spaces of the board, the cards left in hand and the final deal (RR-03, RR-09, RR-13 to RR-16)."""
    options, players = log[0]["options"], log[0]["players"]
    stacks, board = [options["stack"]] * players, dict.fromkeys([*PAY_CARDS, "QK", "seq", "kitty", "pot"], 0)
    for event in log:
        match event:
            case {"event": "ante"}:
                stacks = [own - 9 * options["ante"] for own in stacks]
                board = {space: chips + players * options["ante"] for space, chips in board.items()}
                played = [set[str]() for _ in stacks]
            case {"event": "deal", "dealer": dealer, "hands": hands}:
                left = [len(hand) for hand in hands]
            case {"event": "swap", "seat": seat, "hand": hand}:
                left[seat] = len(hand)
            case {"event": "sold", "seat": seat, "hand": hand, "amount": price}:
                left[seat] = len(hand)
                stacks[seat], stacks[dealer] = stacks[seat] - price, stacks[dealer] + price
            case {"event": "play", "seat": seat, "card": card}:
                played[seat].add(card)
                left[seat] -= 1
                in_sequence = {rank + card[1] for rank in options["sequence"]}
                takes = {card: True, "QK": played[seat] >= {"Qh", "Kh"}, "seq": played[seat] >= in_sequence}
                for space in [space for space in takes if takes[space] and space in board]:
                    stacks[seat], board[space] = stacks[seat] + board[space], 0
            case {"event": "deal_end", "winner": winner}:
                assert winner == (left.index(0) if 0 in left else None)
                stacks = [own - cards for own, cards in zip(stacks, left, strict=True)]
                board["kitty"] += sum(left)  # a winner takes it in the next line
                for space in ("kitty", "pot")[: 0 if winner is None else 1 + (winner == dealer)]:
                    stacks[winner], board[space] = stacks[winner] + board[space], 0
                assert (event["stacks"], event["board"]) == (stacks, board)
            case {"event": "final_deal", "dealer": dealer, "deck": deck}:
                each, odd = divmod(sum(board.values()), len(PAY_CARDS))
                for place, card in enumerate(PAY_CARDS):
                    stacks[(dealer + 1 + deck.index(card)) % players] += each + (place < odd)
    return stacks


def saint_poker(log: list[Json]) -> list[int]:
    """Share the points of each round among the best hands (SP-05, SP-08)."""
    scores = [0] * log[0]["players"]
    for event in log:
        match event:
            case {"event": "river", "river": river}:
                pass
            case {"event": "reveal", "cards": pairs}:
                hands = dict(enumerate(rank([*river, *pair]) for pair in pairs))
            case {"event": "score", "round": worth}:
                best = best_shown([*hands], hands)
                for seat in best:
                    scores[seat] += (worth + len(best) - 1) // len(best)
                assert event["scores"] == scores
    return scores


SCORING: dict[str, Callable[[list[Json]], list[int]]] = {
    "pool-nap": pool_nap,
    "prince-albert": prince_albert,
    "prisoners": prisoners,
    "rummy-royal": rummy_royal,
    "saint-poker": saint_poker,
}
