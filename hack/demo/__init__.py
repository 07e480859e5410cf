"""`make demo`: a cluster, Fairway on it, two tenants of different weight, and a table of their shares."""
