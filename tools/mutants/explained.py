"""List faults that no test can catch because they do not change behaviour, each with the reason."""

from typing import NamedTuple


class Spot(NamedTuple):
    """Identify a planted fault by its place and by the line before and after, without surrounding blanks."""

    path: str
    function: str
    before: str
    after: str


_NAP = "referee/games/pool_nap.py"
_ALBERT = "referee/games/prince_albert.py"
_BETTING = "referee/games/prince_albert_betting.py"
_PRISONERS = "referee/games/prisoners.py"
_PRISONERS_BIDS = "referee/games/prisoners_bids.py"
_RUMMY = "referee/games/rummy_royal.py"
_VOTES = "referee/games/prince_albert_votes.py"

EXPLAINED: dict[Spot, str] = {
    Spot(
        _NAP,
        "PoolNap._may_play",
        "return card in hand and (not self.trick or card[1] == "
        'self.trick[0]["card"][1] or card in self._playable(seat))',
        "return card in hand and (not self.trick or card[1] == "
        'self.trick[0]["card"][0] or card in self._playable(seat))',
    ): "The comparison only saves time: the list of playable cards leads to the same result.",
    Spot(
        _ALBERT,
        "PrinceAlbert.close_betting",
        'if self.phase == "bet3" or len(self.seats_in()) == 1:  # PA-35',
        'if self.phase == "bet3" or len(self.seats_in()[::-1]) == 1:  # PA-35',
    ): "Only the length is used.",
    Spot(
        _ALBERT,
        "PrinceAlbert._after_bidder",
        'self.emit("contract", low_bidders=self.low_bidders[:], bid=bid, stake=self.stake, draws=self.draws)',
        'self.emit("contract", low_bidders=self.low_bidders, bid=bid, stake=self.stake, draws=self.draws)',
    ): "The list grows only during the bidding, which is over; the next round makes a new one.",
    Spot(
        _ALBERT, "PrinceAlbert._end", "chips=self.chips[:],", "chips=self.chips,"
    ): "Nothing is paid after the end of the match.",
    Spot(
        _ALBERT, "PrinceAlbert.observation", '"scores": self.points[:],', '"scores": self.points,'
    ): "Points are never changed in place: every round makes a new list.",
    Spot(
        _BETTING, "Betting", "raises: int = 0", "raises: int = 1"
    ): "Setting up the match clears it before anything reads it.",
    Spot(
        _BETTING, "Betting.open_betting", "self._clear_level()", "pass"
    ): "The start of the round and the end of every betting have cleared it.",
    Spot(
        _VOTES,
        "Votes",
        "throws: int = 0  # tied throws of this motion so far",
        "throws: int = 1  # tied throws of this motion so far",
    ): "Counting the votes sets it to 0 before signs are thrown.",
    Spot(
        _VOTES,
        "Votes._carry",
        "self.votes, self.rival, self.throws = [], None, 0",
        "self.votes, self.rival, self.throws = [], None, -1",
    ): "Counting the votes sets it to 0 before signs are thrown.",
    Spot(
        _VOTES,
        "Votes._throwers",
        "return sorted((self.opener, self.rival))",
        "return sorted((self.rival, self.opener))",
    ): "The seats are sorted in both cases.",
    Spot(
        _PRISONERS,
        "Prisoners",
        "joker_seen: bool = False  # in this deal",
        "joker_seen: bool = True  # in this deal",
    ): "Setting up the match clears it before anything reads it.",
    Spot(
        _PRISONERS_BIDS, "module", "BYTES = len(BID_CARDS) // 8", "BYTES = len(BID_CARDS) * 8"
    ): "There are more bytes, but none of them represents a card.",
    Spot(
        _PRISONERS_BIDS,
        "_suit_places",
        "return tuple(sorted(map(BOOKS[suit].places.__getitem__, _combinations_from(own))))",
        "return tuple(sorted(map(BOOKS[suit].places.__getitem__, _combinations_from(own)), reverse=True))",
    ): "The caller sorts the result again, together with the sets.",
    Spot(
        _PRISONERS,
        "Prisoners",
        'choices=("clockwise", "anticlockwise"),',
        'choices=("anticlockwise", "clockwise"),',
    ): "The values of an option are looked up; their order has no meaning.",
    Spot(
        _RUMMY,
        "RummyRoyal._pay_up",
        "self.stacks = [stack - cards for stack, cards in zip(self.stacks, left, strict=True)]",
        "self.stacks = [stack - cards for stack, cards in zip(self.stacks, left, strict=False)]",
    ): "Both lists have one entry per seat.",
    Spot(
        _RUMMY, "RummyRoyal._deal_out", "stacks=self.stacks[:],", "stacks=self.stacks,"
    ): "The match ends here; nothing more is paid.",
    Spot(
        _NAP,
        "PoolNap.placements",
        "[(1, self.chips[seat]) if out is None else (0, out) for seat, out in enumerate(self.out_round)]",
        "[(1, self.chips[seat]) if out is None else (-1, out) for seat, out in enumerate(self.out_round)]",
    ): "Any number below 1 ranks seats that are out behind the others.",
}
