"""Fairway: shared job capacity on Kubernetes, handed out fairly."""
