"""The REST API: one file for each noun, put together in `app`."""
