"""Recipes: a parser for pages that hold one, and a scraper that reads a site of them."""

from __future__ import annotations

import msgspec

from gossamer import Page, Parser, Scraper
from gossamer.parse import clean, structured


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """One recipe. Its class names the kind of the items: "recipe"."""

    url: str
    name: str | None = None
    yields: str | None = None
    ingredients: tuple[str, ...] = ()


def read(page: Page) -> list[Recipe]:
    """The recipes of a page; none if it has none."""
    found = []
    for thing in structured.of_type(page, "Recipe"):
        given = thing.get("recipeIngredient") or []
        texts = given if isinstance(given, list) else [given]
        found.append(
            Recipe(
                url=clean.url(thing.get("url"), page.base_url) or page.url,
                name=clean.text(thing.get("name")),
                yields=clean.text(thing.get("recipeYield")),
                ingredients=tuple(text for text in map(clean.text, texts) if text),
            )
        )
    return found


#: What the entry point names. `auto` picks it by these types and URLs.
RECIPE = Parser("recipe", read, "recipes: name, yield, ingredients", types=("Recipe",), urls=(r"/recipes/\d+",))


class Kitchen(Scraper):
    """Reads a site of recipes, page by page."""

    name = "kitchen"
    parser = "recipe"
    follow = ("a.recipe", "a[rel~=next]")
    #: `gossamer run https://recipes.example/` finds it by this.
    matches = (r"^https?://recipes\.example/",)

    def start(self):
        return [self.params.get("site", "https://recipes.example/")]
