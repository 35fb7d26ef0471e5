"""The composition root: typed bundles of ports for workers, the site and commands.

A bundle shows what a process may touch: the site is never handed an archive client. Each is
imported from its own module, so that a process loads only what it is made of.
"""
