"""A JSON API that is read page by page, as the site's own pages do."""

from gossamer import Scraper


class QuotesApi(Scraper):
    start_urls = ["https://quotes.toscrape.com/api/quotes?page=1"]
    rate = "5/s"

    def parse(self, page):
        answer = page.json()
        for quote in answer["quotes"]:
            yield {"text": quote["text"], "author": quote["author"]["name"], "tags": quote["tags"]}
        if answer["has_next"]:
            yield from page.follow(f"?page={answer['page'] + 1}")
