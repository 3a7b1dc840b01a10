"""Serve the download of all that is stored about the caller's account."""

from functools import partial

from flask import Response

from api.auth import account, current_account
from api.downloads.sending import BUSY, send_file
from api.views import Resource, database
from referee.accounts.scopes import Scope
from referee.workflows.erasing.account_export import write_export

resource = Resource("account-export", "/api/v1/accounts", "A copy of all data of an account.")


@resource.get("/me/export", account, documents={"responses": BUSY}, transaction=None, scope=Scope.ALL)
@resource.file_response("application/json", "A member for each kind of data, with a list of rows.", {"type": "object"})
def export() -> Response:
    """Download all that the service has stored about your account

    The document has a member for each kind of data, such as `bots` and `faults`: a list of rows, as the database has
    them. Secrets and hashes are left out. This needs a token of the scope `all`.
    """
    return send_file("application/json", "account.json", partial(write_export, database(), current_account().id))
