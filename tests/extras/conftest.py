"""Let tests of extras start the service as the tests of the API do."""

from tests.api.conftest import admin as admin
from tests.api.conftest import apps as apps
from tests.api.conftest import mine as mine
from tests.api.conftest import no_connection_in_writes as no_connection_in_writes
from tests.api.conftest import organiser as organiser
from tests.api.conftest import owner as owner
from tests.api.conftest import record_folder as record_folder
from tests.api.conftest import service as service
from tests.api.conftest import settings as settings
from tests.api.conftest import start as start
from tests.api.conftest import theirs as theirs
