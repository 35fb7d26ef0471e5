"""Redis or Valkey: the doorbell, the deliveries, consumer names and the shared pace."""
