"""The operator itself: kopf handlers and loops, thin; joins policy, queue and kube."""
