"""Many processes walk the same runs: what only a worker of such a cluster needs."""
