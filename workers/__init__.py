"""Processes that run jobs."""
