"""Text that would do harm if it were evaluated or shown as it is, in every string of every message."""
