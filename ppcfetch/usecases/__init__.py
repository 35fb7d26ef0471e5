"""The verbs of the product: plain functions over ports."""
