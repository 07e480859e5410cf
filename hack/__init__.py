"""What developers run: the cluster, the images, the demo."""
