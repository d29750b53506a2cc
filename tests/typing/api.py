"""Public API for the type checker."""
