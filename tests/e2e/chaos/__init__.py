"""Random faults on real servers and processes, then quiet, then the books."""
