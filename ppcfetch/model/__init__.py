"""The nouns of the product and its pure decisions: frozen values, no input or output."""
