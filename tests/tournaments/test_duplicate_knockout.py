"""A knockout in duplicate deals: the matches of one set, seats rotated, are one leg."""

from referee.pairing.knockout import rank_entrants
from referee.tournaments.rounds import load_state
from referee.tournaments.tables import Tournament
from tests.database.scripted import play_due
from tests.database.tournaments import begun, go_on
from tests.database.world import World


def test_a_duplicate_set_counts_as_one_leg(world: World) -> None:
    options = {"best_of": 3}
    tournament_id, entered = begun(
        world, 2, format="knockout", deal_sharing="duplicate", trusted=True, format_options=options
    )

    while play_due(world.database, tournament_id):
        go_on(world.database, tournament_id)

    with world.database.read() as session:
        tournament = session.get_one(Tournament, tournament_id)
        event = load_state(session, tournament)
        assert tournament.status == "finished"
        assert len(event.played) == 1
        assert len(event.played[0].legs[0]) in (2, 3)
        assert {one for _, one in rank_entrants(event)} == {*entered}
