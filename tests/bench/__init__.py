"""Ratios of our work to a floor that is measured in the same run: `make bench`."""
