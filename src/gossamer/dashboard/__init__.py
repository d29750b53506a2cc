"""The dashboard: pages that people keep open all day, on the same port as the API.

What a page shows comes from the lists and figures that the API gives too; what it changes goes through the same use
cases and leaves the same trail. Nothing that a site sent is ever shown as anything but text.
"""
