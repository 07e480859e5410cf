"""What to decide: pure functions on values, without clock, I/O or await."""
