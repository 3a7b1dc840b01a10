"""Meeting a bot: is somebody there, is it who it should be, what does it play, does it shuffle along."""

import hashlib
from collections.abc import Sequence

from referee.botclient.client import Reply
from referee.conformance.calls import GONE, Call
from referee.conformance.context import Examination, shown, taken
from referee.conformance.positions import fresh_id
from referee.games import catalogue
from referee.games.state import State
from referee.match.chance import commitment
from referee.protocol import messages
from referee.protocol.signing import challenge_proof


async def meet(exam: Examination) -> bool:
    """The challenge where a secret is known, then the card, then the nonces; whether there is something to go on."""
    if exam.secrets:
        if not await _challenge(exam):  # who does not meet it may be somebody else by now
            return False
    else:
        exam.notes.skip(["challenge"], "no secret was given")
    if not await _card(exam):
        return False
    if exam.card is not None:
        exam.line.allow(exam.card.max_calls)
    await _nonces(exam)
    return True


async def part(exam: Examination) -> None:
    """The card once more: only one and the same program can be attested."""
    first, call = exam.card, _card_call(exam)
    if first is None:
        exam.notes.skip(["same_version"], "there is no card")
        return
    last = _read_card(exam, call, await exam.line.send(call, exam.pace.notice_ms))
    if last is not None:
        exam.card = last
        came = f"first {first.version!r}, then {last.version!r}"
        exam.note("same_version", call, "" if last.version == first.version else "another_answer", came)


def games_to_ask(exam: Examination, wanted: Sequence[str]) -> list[type[State]]:
    """The games asked for, else those of the card that there are."""
    known = catalogue()
    named = dict.fromkeys(exam.card.games if exam.card else ())
    games = [name for name in named if name in known]
    if exam.card is not None:
        call = _card_call(exam)
        exam.note("known_game", call, "" if games else "bad_schema", f"games is {list(named)}")
        for name in named:
            if name not in known and games:
                exam.note("unknown_game", call, "bad_schema", f"there is no game {name!r}", where=name[:40])
    return [known[name] for name in wanted or games]


# -- is somebody there --


async def _challenge(exam: Examination) -> bool:
    nonce = exam.dice.randbytes(16).hex()
    call = exam.to_notify(messages.challenge_body(exam.line.target.bot_id, nonce), f"chl_{nonce}")
    reply = await exam.line.send(call, exam.pace.notice_ms)
    if not _is_there(exam, call, reply):
        return False
    fault, detail = reply.fault, shown(reply)
    if reply.ok:
        try:
            proof = messages.read_proof(reply.body)
        except messages.BadBody as bad:
            fault, detail = bad.fault, shown(reply.but(bad.fault, bad.detail))
        else:
            if proof not in [challenge_proof(secret, nonce) for secret in exam.secrets]:
                fault, detail = "wrong_proof", "proof is not the HMAC-SHA256 of the nonce under the secret"
    exam.note("challenge", call, fault, detail)
    return not (fault and exam.unproven_ends)


async def _card(exam: Examination) -> bool:
    call = _card_call(exam)
    reply = await exam.line.send(call, exam.pace.notice_ms)
    if not exam.secrets and not _is_there(exam, call, reply):
        return False
    exam.card = _read_card(exam, call, reply)
    return True


def _read_card(exam: Examination, call: Call, reply: Reply) -> messages.Card | None:
    card, fault, detail = None, reply.fault, shown(reply)
    if reply.ok:
        try:
            card = messages.read_card(reply.body)
        except messages.BadBody as bad:
            fault, detail = bad.fault, shown(reply.but(bad.fault, bad.detail))
    exam.note("card", call, fault, detail)
    return card


def _card_call(exam: Examination) -> Call:
    return Call("GET", "/", fresh_id("card", exam.dice), b"", exam.secrets)


def _is_there(exam: Examination, call: Call, first: Reply) -> bool:
    """Judges the very first call."""
    if first.fault in GONE or (first.fault == "deadline" and not first.sent):
        exam.note("reachable", call, first.fault, shown(first))
        return False
    late = first.ms > exam.pace.budget_ms
    exam.note("slow_start", call, "late" if late else "", taken(first))
    return True


# -- the share in the shuffling --


async def _nonces(exam: Examination) -> None:
    group_id, seed = fresh_id("grp", exam.dice), exam.dice.randbytes(32)
    committed = commitment(seed, group_id)
    promised = await _told(exam, "nonce_promise", messages.group_start_body(group_id, committed), f"{group_id}_start_1")
    hashes = [promised or "", ""]
    second = messages.group_start_body(group_id, committed, hashes)
    nonce = await _told(exam, "nonce_kept", second, f"{group_id}_start_2")
    if promised and nonce is not None and hashlib.sha256(nonce.encode()).hexdigest() != promised:
        call = exam.to_notify(second, f"{group_id}_start_2")
        exam.note("nonce_kept", call, "broken_promise", f"the nonce {nonce!r} does not fit its hash {promised}")


async def _told(exam: Examination, rule: str, body: bytes, id: str) -> str | None:
    """What one of the two steps brought; None where there is nothing to use. A bot need not take part."""
    call = exam.to_notify(body, id)
    reply = await exam.line.send(call, exam.pace.notice_ms)
    told, fault, detail = None, reply.fault, shown(reply)
    if reply.ok:
        name, read = (
            ("nonce_hash", messages.read_nonce_hash) if rule == "nonce_promise" else ("nonce", messages.read_nonce)
        )
        try:
            told = read(reply.body) if name in messages.read_object(reply.body) else None
        except messages.BadBody as bad:
            fault, detail = bad.fault, shown(reply.but(bad.fault, bad.detail))
    exam.note(rule, call, fault, detail)
    return told
