"""The zero-setup servers: PostgreSQL and Valkey out of wheels, started by path as child processes.

Reading order: ``postgres`` and ``valkey`` say what is run, ``server`` how it is started, watched
and stopped; ``process``, ``folder``, ``account`` and ``shelter`` are the parts it stands on.
"""
