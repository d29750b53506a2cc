from gossamer import Scraper


class Quotes(Scraper):
    start_urls = ["https://quotes.toscrape.com/"]
    rate = "5/s"

    def parse(self, page):
        for quote in page.css(".quote"):
            yield {
                "text": quote.css(".text").text,
                "author": quote.css(".author").text,
                "tags": quote.css(".tag").texts(),
            }
        yield from page.follow("li.next a")
