"""The whole service at a glance: the home page, the overview and its stream."""
