"""Kinds of arguments that several commands take."""

import click

JOB = click.IntRange(1, 2**63 - 1)
"""The number of a job, as far as the database can count."""
