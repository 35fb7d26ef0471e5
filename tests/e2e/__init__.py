"""The whole product as processes."""
