"""The processes beside the API: workers and the scheduler."""

import gc

# Imported objects stay alive; collecting them again and again took a tenth of the start-up time.
gc.set_threshold(10_000, 50, 100)
