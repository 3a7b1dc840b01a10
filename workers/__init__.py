"""The processes beside the API: workers and the scheduler."""

import gc

# What is imported stays: to look through it for garbage again and again took a tenth of the time to start.
gc.set_threshold(10_000, 50, 100)
