"""A listing with a page for each book: two handlers, a typed item, and a key that tells books apart."""

from dataclasses import dataclass

from gossamer import Scraper


@dataclass
class Book:
    upc: str
    title: str
    price: float
    stock: str
    url: str


class Books(Scraper):
    start_urls = ["https://books.toscrape.com/catalogue/page-1.html"]
    key = "upc"
    rate = "5/s"

    def parse(self, page):
        yield from page.follow("article.product_pod h3 a", to=self.book)
        yield from page.follow("li.next a")

    def book(self, page):
        yield Book(
            upc=page.xpath("//th[.='UPC']/following-sibling::td").text,
            title=page.css("h1").text,
            price=float(page.css(".price_color").text.lstrip("£")),
            stock=page.css(".availability").text,
            url=page.url,
        )
