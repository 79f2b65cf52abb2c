"""Hypothesis draws the same examples in every run; `--hypothesis-profile=explore` draws others."""

from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("same")
