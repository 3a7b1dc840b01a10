"""Choose actions in Pool Nap with ten weights of features. `train.py` learns the weights, `bot.py` plays with them."""

RANKS = "23456789TJQKA"
BEGINNING = {  # the weights before the training: an almost random policy
    "high": 0.0,  # tricks that an ace is worth; `power` reduces the worth of lower ranks
    "power": 1.0,
    "length": 0.0,  # tricks for each card beyond two of the longest suit
    "caution": 0.0,  # tricks to subtract from the expectation
    "lead_rank": 0.0,
    "lead_trump": 0.0,
    "win": 0.0,  # for a card that beats all cards of the trick so far
    "win_rank": 0.0,  # for the rank of such a card
    "lose_rank": 0.0,  # for the rank of a card that does not beat them
    "lose_trump": 0.0,
}


def choose(question, weights):
    """Return the legal action with the highest score."""
    seen = question["observation"]
    score = bid_score if seen["phase"] == "bid" else play_score
    return max(question["legal_actions"], key=lambda action: score(seen, action, weights))


def bid_score(seen, action, weights):
    """Return a higher score for bids nearer to the expected number of tricks. A pass counts as a bid of 0."""
    return -abs(action.get("tricks", 0) - tricks_expected(seen["hand"], weights))


def tricks_expected(hand, weights):
    suits = [card[1] for card in hand]
    longest = max(suits.count(suit) for suit in suits)
    high = sum((worth(card) + 0.01) ** abs(weights["power"]) for card in hand)
    return weights["high"] * high + weights["length"] * (longest - 2) - weights["caution"]


def play_score(seen, action, weights):
    card, trump = action["card"], seen["trump"]
    is_trump = card[1] == trump
    if not seen["trick"]:
        return weights["lead_rank"] * worth(card) + weights["lead_trump"] * is_trump
    if takes(card, [played["card"] for played in seen["trick"]], trump):
        return weights["win"] + weights["win_rank"] * worth(card)
    return weights["lose_rank"] * worth(card) + weights["lose_trump"] * is_trump


def takes(card, trick, trump):
    """Return whether the card would beat all cards of the trick so far."""
    led = trick[0][1]

    def strength(other):
        return (other[1] == trump, other[1] == led, RANKS.index(other[0]))

    return strength(card) > max(map(strength, trick))


def worth(card):
    """Return the worth of a rank, from 0 (two) to 1 (ace)."""
    return RANKS.index(card[0]) / 12
