"""A real Chromium on the running site."""
