"""Read the settings of a process of the service at its start, and report what is wrong with them in a sentence."""

import logging

import referee
from referee.botclient.private_bots import check_stores
from referee.settings import BadSettings, Settings

log = logging.getLogger(__name__)


def load_settings_at_start() -> Settings | None:
    """Return the settings. If they are invalid, or the master key cannot be stored, log why and return None.

    Log the version first: it is that of the code that this process imports, even if the checkout changes later.
    """
    log.info("process_started", extra={"version": referee.__version__})
    try:
        settings = Settings.load()
        check_stores(settings)
        if settings.private_bots:
            log.warning("private_bots_allowed", extra={"ranges": settings.private_bots})
        return settings
    except BadSettings as error:
        log.error(str(error))
    except OSError as error:
        log.error(f"{error.filename} cannot be used: {error.strerror}. Make the directory writable for this user.")
    return None
