"""Contract tests: one suite for a port, on its fake and on the real server."""
