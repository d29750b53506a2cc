"""Packs: scrapers, item shapes and steps for one subject each. They use only what any author could import."""
