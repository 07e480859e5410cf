from tests.cluster_fixtures import *  # noqa: F403 - pytest finds fixtures by being in this module
