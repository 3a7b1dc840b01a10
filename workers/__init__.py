"""Run the processes other than the API: workers and the scheduler."""

import gc

# Imported objects stay alive, and scanning them repeatedly took a tenth of the start-up time.
gc.set_threshold(10_000, 50, 100)
