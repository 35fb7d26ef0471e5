"""The technologies: the only code of the core that does input and output."""
