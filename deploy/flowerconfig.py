"""What Flower is started with in compose.yaml: who may log in stands in a secret, and not on its command line."""

from pathlib import Path

address = "0.0.0.0"  # noqa: S104 - of its container; compose.yaml publishes it on loopback
port = 5555
basic_auth = [Path("/run/secrets/flower_login").read_text("utf-8").strip()]
# Its tables are kept in memory; what matters is in the store.
persistent = False
max_tasks = 1000
