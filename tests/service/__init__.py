"""The service: schedules, REST API, dashboard."""
