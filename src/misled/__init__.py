"""Measure how reasoning chains mislead language models."""

__version__ = "0.1.0"
