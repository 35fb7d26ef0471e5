"""Who advertises on a domain: the whole behaviour, without web framework or process."""
