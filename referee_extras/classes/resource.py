"""Let operators create the accounts of a class from a list of names: over HTTP, and with a form on their page."""

from datetime import timedelta
from typing import Any

from markupsafe import Markup

from api import fields
from api.accounts.schemas import AccountView, FreshToken
from api.auth import admin, current_account
from api.extended import Extended
from api.fields import Strict, StrictBool, StrictInt, View
from api.messages import Length
from api.pages.page import Pages
from api.pages.page_places import render_section
from api.pagination import list_of, single_page
from api.views import Resource, current_session
from referee.accounts.accounts import MAX_LIFETIME_DAYS
from referee.accounts.scopes import Scope
from referee_extras.classes import operations
from referee_extras.classes.operations import MAX_NAMES, Member

resource = Resource("classes", "/api/v1/accounts", "Accounts of a class.")

LONGEST_NAME = 128  # characters of a name before it is checked


class NewClass(Strict):
    names = fields.List(
        fields.String(validate=Length(1, LONGEST_NAME)),
        "Names of accounts. An error names the place of each bad one, from 0.",
        required=True,
        validate=Length(1, MAX_NAMES),
    )
    new_tokens = StrictBool(
        "Whether accounts that exist get another token; those of earlier calls are then revoked.", load_default=False
    )
    expires_in_days = StrictInt(
        1,
        MAX_LIFETIME_DAYS,
        "Days after which the tokens are no longer accepted; null for tokens that never expire.",
        allow_none=True,
        load_default=None,
    )


class ClassMemberView(View):
    account = fields.Nested(AccountView)
    is_new = fields.Boolean("Whether this request created the account.")
    token = fields.Nested(FreshToken, "The new token; null if the account existed already.", allow_none=True)


@resource.post("/class", admin, list_of(ClassMemberView), body=NewClass, secret=True, scope=Scope.ALL)
def create_class(new_class: dict[str, Any]) -> Any:
    """Create the accounts of a class

    Each new account gets a token with the scope `play`, which is returned only in this response. If a name is bad, all
    bad ones are reported and nothing is created. Accounts that exist are returned unchanged, so the request can be
    repeated. Only the operator may do this.
    """
    days = new_class["expires_in_days"]
    members = operations.create_class(
        current_session(),
        current_account(),
        new_class["names"],
        new_tokens=new_class["new_tokens"],
        lifetime=None if days is None else timedelta(days=days),
    )
    return single_page(list(map(_to_view, members)))


def _to_view(member: Member) -> dict[str, Any]:
    shown = None
    if member.token is not None:
        token, text = member.token
        shown = Extended(token, token=text)
    return {"account": member.account, "is_new": member.is_new, "token": shown}


pages = Pages("classes", __name__, template_folder="templates")  # has no page of its own


def section() -> Markup:
    """Return the section with the form."""
    return render_section("classes/section.html")
