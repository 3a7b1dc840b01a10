"""Register, edit, pause and retire bots, and rotate their secrets. Handshakes and checks have their own modules."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol, Self

from sqlalchemy import ColumnElement, and_, exists, func, select
from sqlalchemy.orm import Session

from referee.accounts.accounts import lock_present
from referee.accounts.reserved_names import claim_key
from referee.accounts.tables import Account
from referee.bots import checks
from referee.bots.hosts import group_of, host_of
from referee.bots.profiles import validate_profile
from referee.bots.states import BotState, CheckState
from referee.bots.tables import Bot
from referee.db import former_names
from referee.db.engine import current_time, take_advisory_lock
from referee.db.ids import new_id
from referee.db.kinds import NamedKind, SearchKind
from referee.db.lookup import load_by_id
from referee.db.names import spare_key, validate_name
from referee.db.paging import Cursor, Page, load_page
from referee.db.search_documents import put_document
from referee.errors import Conflict, NotFound, QuotaExceeded
from referee.settings import Settings

ASK_FOR_HOSTS: Final = "or ask the operator of this service for more bots on one host (REFEREE_BOTS_PER_HOST)"
OLD_SECRET_LIFETIME: Final = timedelta(hours=24)
MAX_UNREACHABLE_STREAK: Final = 3  # consecutive matches that a bot ends unreachable before it is paused


@dataclass(frozen=True, slots=True)
class Quotas:
    """Limit the number of bots that are not retired, per owner, per host, and per domain or IPv6 /64 of their hosts."""

    per_owner: int = 20
    per_host: int = 50
    per_group: int = 200

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the quotas of a service. A domain or /64 may have at least twice as many bots as a host."""
        return cls(settings.bots_per_owner, settings.bots_per_host, max(cls().per_group, 2 * settings.bots_per_host))


def register(
    session: Session,
    owner_id: str,
    name: str,
    url: str,
    *,
    profile: Mapping[str, str | None] | None = None,
    quotas: Quotas | None = None,
    recovery_token_id: str | None = None,
) -> Bot:
    """Create an unverified bot with a handshake that is due. The address guard must have rebuilt ``url``.

    ``profile`` may have ``summary``, ``language`` and ``link``. The bot's secret may recover the account until the
    token ``recovery_token_id`` is revoked; without one, it may not. Raise ``BadOption`` for a bad name or profile,
    ``NameTaken`` if another name looks the same or did until recently, ``QuotaExceeded`` if the owner or the host has
    too many bots, ``NotFound`` for an unknown owner, and ``Conflict`` for a deleted one.
    """
    name = validate_name(name)
    take_advisory_lock(session, "bot names and quotas")
    is_first = _check_quotas(session, owner_id, host_of(url), quotas or Quotas()) == 0
    moment = current_time(session)
    bot = Bot(
        id=new_id("bot"),
        owner_id=owner_id,
        name=name,
        normalized_name=_claim_name_key(session, name, owner_id),
        **(validate_profile(profile) if profile else {}),
        url=url,
        host=host_of(url),
        status=BotState.UNVERIFIED,
        recovery_token_id=recovery_token_id,
        created_at=moment,
        handshake_state=CheckState.DUE,
        handshake_due_at=moment,
    )
    session.add(bot)
    session.flush()
    put_bot_document(session, bot, is_new=True)
    if is_first:
        put_document(session, SearchKind.OWNER, owner_id, session.get_one(Account, owner_id).name)
    return bot


def put_bot_document(session: Session, bot: Bot, *, is_new: bool = False) -> None:
    """Let the search find the bot by its name and by what its owner says about it."""
    put_document(session, SearchKind.BOT, bot.id, bot.name, bot.summary, bot.language, is_new=is_new)


def get_bot(session: Session, bot_id: str, *, owner_id: str | None = None) -> Bot:
    """Return the bot. Raise ``NotFound`` if there is none, or if its owner is not ``owner_id``."""
    bot = session.get(Bot, bot_id)
    if bot is None or (owner_id is not None and bot.owner_id != owner_id):
        raise NotFound("bot", bot_id)
    return bot


def lock_state(session: Session, bot_id: str) -> Bot:
    """Return the bot, whose state does not change before the transaction ends. Raise ``NotFound`` if there is none."""
    bot = get_bot(session, bot_id)
    session.refresh(bot, with_for_update={"key_share": True})
    return bot


def names_of(session: Session, bot_ids: Iterable[str]) -> dict[str, str]:
    """Return the names of these bots, keyed by bot id."""
    return load_by_id(session, Bot.id, Bot.name, bot_ids)


def owners_of(session: Session, bot_ids: Iterable[str]) -> dict[str, str]:
    """Return the ids of the accounts that own these bots, keyed by bot id."""
    return load_by_id(session, Bot.id, Bot.owner_id, bot_ids)


def any_registered(session: Session) -> bool:
    """Return whether anybody has registered a bot. House bots do not count."""
    return bool(session.scalar(select(exists().where(Bot.status != BotState.HOUSE))))


def list_bots(
    session: Session,
    *,
    owner_id: str | None = None,
    status: str | Collection[str] | None = None,
    where: ColumnElement[bool] | None = None,
    limit: int = 50,
    cursor: Cursor | None = None,
) -> Page[Bot]:
    """Return a page of the bots that pass these filters and the condition ``where``, newest first.

    ``status`` is one state or several states.
    """
    query = select(Bot)
    if where is not None:
        query = query.where(where)
    if owner_id is not None:
        query = query.where(Bot.owner_id == owner_id)
    if status is not None:
        query = query.where(Bot.status.in_([status] if isinstance(status, str) else status))
    return load_page(session, query, Bot.created_at.desc(), Bot.id.desc(), limit=limit, cursor=cursor)


def edit(
    session: Session,
    bot_id: str,
    *,
    revision: int,
    name: str | None = None,
    url: str | None = None,
    profile: Mapping[str, str | None] | None = None,
    quotas: Quotas | None = None,
) -> Bot:
    """Change the name or the address of a bot, or what its owner says about it. Raise ``Conflict`` for an old revision.

    Nobody else may take a former name for some time. Raise ``NameTaken`` as ``register`` does, and ``QuotaExceeded`` if
    the name was changed too often.

    ``profile`` may have ``summary``, ``language`` and ``link``, which None removes. A new address is used once it has
    passed a handshake. Until then, existing matches use the old address, and no new matches are created.
    """
    bot = _lock_bot(session, bot_id, revision)
    for field, text in validate_profile(profile or {}).items():
        setattr(bot, field, text)
    if name is not None and (name := validate_name(name)) != bot.name:
        _rename(session, bot, name)
    if url is not None and url != bot.url:
        host = host_of(url)
        if host != bot.host:
            take_advisory_lock(session, "bot names and quotas")
            _check_host_quota(session, host, quotas or Quotas(), own_id=bot.id)
        bot.url, bot.host = url, host
        if bot.status == BotState.VERIFIED:
            bot.status = BotState.UNVERIFIED
        bot.status_reason = "the address changed"
        _make_handshake_due(session, bot)
        checks.drop(session, bot.id)
        checks.want(session, bot.id)
    bot.revision += 1
    put_bot_document(session, bot)
    return bot


def pause(session: Session, bot_id: str, reason: str | None = None) -> Bot:
    """Pause a bot, so that it gets no new matches. ``pausing.pause_bot`` also cancels its friendlies."""
    bot = _lock_bot(session, bot_id)
    bot.status, bot.status_reason = BotState.PAUSED, reason
    bot.revision += 1
    return bot


def resume(session: Session, bot_id: str) -> Bot:
    """End a pause. Raise ``Conflict`` if the bot is not paused.

    The bot is verified if its address is the one that passed the last handshake. A bot that was paused because it was
    unreachable must pass another handshake first.
    """
    bot = _lock_bot(session, bot_id)
    if bot.status != BotState.PAUSED:
        raise Conflict(f"The bot is {bot.status}, not paused.")
    proven = bot.verified_url == bot.url
    bot.status, bot.status_reason = (BotState.VERIFIED if proven else BotState.UNVERIFIED), None
    if bot.unreachable_streak >= MAX_UNREACHABLE_STREAK:
        bot.status, bot.status_reason = BotState.UNVERIFIED, "it must pass a handshake before it plays again"
        bot.unreachable_streak = 0
        _make_handshake_due(session, bot)
    bot.revision += 1
    return bot


def retire(session: Session, bot_id: str) -> Bot:
    """Retire a bot permanently. ``retirement.retire_bot`` also withdraws its entries and cancels its matches."""
    bot = _lock_bot(session, bot_id)
    bot.status, bot.status_reason, bot.handshake_state = BotState.RETIRED, None, CheckState.IDLE
    bot.revoke_claim()
    checks.drop(session, bot.id)
    bot.revision += 1
    # Free the name for other bots of its owner and, later, for those of others, while this bot stays listed under it.
    former_names.give_up_name(session, NamedKind.BOT, bot.id, bot.name, bot.owner_id, is_shown=False)
    bot.normalized_name = spare_key(bot.normalized_name, bot.id)
    return bot


def rotate_secret(session: Session, bot_id: str, *, recovery_token_id: str | None = None) -> Bot:
    """Advance to the next secret. For a day, calls are also signed with the previous one.

    The new secret may recover the account until the token ``recovery_token_id`` is revoked; the previous one may not
    any more.
    """
    bot = _lock_bot(session, bot_id)
    bot.secret_generation += 1
    bot.recovery_token_id = recovery_token_id
    bot.previous_secret_until = current_time(session) + OLD_SECRET_LIFETIME
    bot.revision += 1
    return bot


class SecretState(Protocol):
    """Describe the columns of a bot that determine its secrets."""

    @property
    def secret_generation(self) -> int: ...
    @property
    def previous_secret_until(self) -> datetime | None: ...


def signing_generations(bot: SecretState, moment: datetime) -> tuple[int, ...]:
    """Return the generations of the secret that sign calls to this bot: current, next and, for a day, previous.

    The next generation signs so that calls of matches that started before a rotation stay valid after it.
    """
    previous_signs = bot.previous_secret_until is not None and bot.previous_secret_until > moment
    return (bot.secret_generation, bot.secret_generation + 1, *([bot.secret_generation - 1] if previous_signs else []))


def request_handshake(session: Session, bot_id: str, *, with_check: bool = False) -> Bot:
    """Request another handshake and, if ``with_check``, a check, unless they are pending already."""
    bot = _lock_bot(session, bot_id)
    if with_check and not checks.is_pending(session, bot_id):
        checks.want(session, bot_id)
    if bot.handshake_state == CheckState.IDLE:
        _make_handshake_due(session, bot)
    return bot


def _make_handshake_due(session: Session, bot: Bot) -> None:
    bot.handshake_state, bot.handshake_due_at = CheckState.DUE, current_time(session)
    bot.revoke_claim()  # so that the result of a running handshake with the old address is ignored
    bot.handshake_lost_claims = 0


def _lock_bot(session: Session, bot_id: str, revision: int | None = None) -> Bot:
    locked = select(Bot).where(Bot.id == bot_id).with_for_update()
    # Reread the row after locking it: another transaction may have changed it.
    bot = session.scalar(locked.execution_options(populate_existing=True))
    if bot is None:
        raise NotFound("bot", bot_id)
    if revision is not None and bot.revision != revision:
        raise Conflict(f"The bot has revision {bot.revision}, but the change was based on revision {revision}.")
    if bot.status == BotState.RETIRED:
        raise Conflict("The bot is retired and cannot be changed.")
    if bot.status == BotState.HOUSE:
        raise Conflict("A house bot cannot be changed.")
    return bot


def _rename(session: Session, bot: Bot, name: str) -> None:
    former_names.check_changes(session, NamedKind.BOT, bot.id)
    take_advisory_lock(session, "bot names and quotas")
    key = _claim_name_key(session, name, bot.owner_id, own_id=bot.id)
    former_names.give_up_name(session, NamedKind.BOT, bot.id, bot.name, bot.owner_id, is_shown=True)
    bot.name, bot.normalized_name = name, key


def _claim_name_key(session: Session, name: str, owner_id: str, own_id: str = "") -> str:
    others, is_active = Bot.id != own_id, Bot.status != BotState.RETIRED
    column = Bot.normalized_name
    return claim_key(session, NamedKind.BOT, column, name, owner_id=owner_id, others=others, holds_spare=is_active)


def _check_quotas(session: Session, owner_id: str, host: str, quotas: Quotas) -> int:
    """Return how many bots the owner has. Raise ``QuotaExceeded`` if another one would be too many."""
    lock_present(session, owner_id)
    owned = select(func.count()).where(Bot.owner_id == owner_id, Bot.status != BotState.RETIRED)
    if (count := session.scalars(owned).one()) >= quotas.per_owner:
        raise QuotaExceeded(
            f"An owner can have at most {quotas.per_owner} bots, and you have {count}. Retire one first, or ask the "
            "operator of this service for more (REFEREE_BOTS_PER_OWNER)."
        )
    _check_host_quota(session, host, quotas)
    return count


def _check_host_quota(session: Session, host: str, quotas: Quotas, own_id: str = "") -> None:
    group = group_of(host)
    # Reading all hosts costs less than a column that every change of the rules of ``group_of`` would make outdated.
    others = and_(Bot.status != BotState.RETIRED, Bot.id != own_id)
    counts = session.execute(select(Bot.host, func.count()).where(others).group_by(Bot.host))
    near = {known: count for known, count in counts if group_of(known) == group}
    if near.get(host, 0) >= quotas.per_host:
        raise QuotaExceeded(
            f"At most {quotas.per_host} bots can have addresses on one host, and {host} has {near[host]}. Use another "
            f"host, {ASK_FOR_HOSTS}."
        )
    if (count := sum(near.values())) >= quotas.per_group:
        raise QuotaExceeded(
            f"At most {quotas.per_group} bots can have addresses on hosts of {group}, and there are {count}. Use other "
            f"hosts, {ASK_FOR_HOSTS}."
        )
