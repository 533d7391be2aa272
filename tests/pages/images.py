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
        for name, file, scheme, height in [
            ("run-page", "waiting.html", "light", 1250),
            ("run-page-dark", "waiting.html", "dark", 1250),
            ("plan-page", "demo-second.html", "light", 1100),
            ("drift-page", "drift.html", "light", 920),
        ]:
            with browser.page(PAGES / file, scheme, width=1000, height=height) as page:
                page.screenshot(path=IMAGES / f"{name}.png")


main()
