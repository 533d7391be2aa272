"""Draws the images of the documentation from pages.

    images.py PAGES IMAGES
"""

import pathlib
import sys

from browser import chromium

PAGES, IMAGES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])


def main():
    IMAGES.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for name, file, scheme, opened in [
            ("run-page", "deciding.html", "light", 0),
            ("run-page-dark", "deciding.html", "dark", 0),
            ("drift-page", "drift.html", "light", 0),
        ]:
            with browser.page(PAGES / file, scheme, width=1000, height=1250) as page:
                page.evaluate(
                    "(count) => [...document.querySelectorAll('#changes .c')].slice(0, count).forEach((d) => { d.open = true; })",
                    opened)
                page.screenshot(path=IMAGES / f"{name}.png")


main()
