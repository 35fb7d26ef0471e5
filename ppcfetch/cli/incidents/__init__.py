"""The three incidents that this product exists for, replayed on servers of their own.

Each is a function from a `Rig` to a `Replay`: what the usual code did, and what ours did.
"""
