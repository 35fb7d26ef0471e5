"""Rules on fakes."""
