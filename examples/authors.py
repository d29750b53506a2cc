"""What one page knows is carried to the next: quotes, each with where its author was born.

gossamer run authors.py --param tag=memory
"""

from gossamer import Scraper


class Authors(Scraper):
    start_urls = ["https://quotes.toscrape.com/"]
    key = "name"
    kind = "author"
    rate = "5/s"

    def parse(self, page):
        for quote in page.css(".quote"):
            if self.params.get("tag") in (None, *quote.css(".tag").texts()):
                yield from page.follow(
                    quote.css("a[href^='/author/']"),
                    to=self.author,
                    carry={"known_for": quote.css(".text").text},
                )
        yield from page.follow("li.next a")

    def author(self, page):
        yield {
            "name": page.css(".author-title").text,
            "born": page.css(".author-born-date").text,
            "place": page.css(".author-born-location").text,
            **page.carry,
        }
