"""What makes an account safe: passwords, kept so that nobody can read them back."""
