"""A cluster of plain processes in namespaces, for machines without a Docker engine."""
