"""Notifications: tell owners what concerns their bots and tournaments, in an inbox, by webhooks, Discord and Slack."""

from referee.events import AccountErased, AccountEvent, BotDeleted, TournamentErased
from referee.plugs import Extra, PagePlace

_HERE = "referee_extras.notifications"
EXTRA = Extra(
    name="notifications",
    resources=[
        f"{_HERE}.inbox_resource:resource",
        f"{_HERE}.resource:resource",
    ],
    pages=[f"{_HERE}.pages:pages"],
    places={
        PagePlace.SIGNED_IN: f"{_HERE}.pages:name_counter",
        PagePlace.ACCOUNT_TOP: f"{_HERE}.pages:show_inbox",
        PagePlace.ACCOUNT_END: f"{_HERE}.pages:show_webhooks",
    },
    metadata=f"{_HERE}.tables:NotificationsTable.metadata",
    events={
        AccountEvent: f"{_HERE}.outbox:report_event",
        AccountErased: f"{_HERE}.personal_data:forget_account",
        BotDeleted: f"{_HERE}.personal_data:replace_bot_name",
        TournamentErased: f"{_HERE}.personal_data:replace_tournament_name",
    },
    runner_work=f"{_HERE}.sender:WORK",
    offers={"retention": f"{_HERE}.pruned_kinds:OFFERED"},
    disk_use=f"{_HERE}.personal_data:DISK_USE",
    export=f"{_HERE}.personal_data:EXPORTED",
)
