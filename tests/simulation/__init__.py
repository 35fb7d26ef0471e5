"""The lease protocol under every order of events: seeded, on a virtual clock, with faults."""
