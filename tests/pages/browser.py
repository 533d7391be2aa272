"""A browser that notes whatever a page does that it must not do."""

import contextlib
import os
import pathlib

from playwright.sync_api import sync_playwright

AXE = pathlib.Path(os.environ["AXE"]).read_text()


class Misbehaved(AssertionError):
    """A page did something that it must not do."""


class Browser:
    """Chromium. Every page that is opened with `page` is watched until it is closed."""

    def __init__(self, browser):
        self.browser = browser

    @contextlib.contextmanager
    def page(self, file, scheme="light", width=1200, height=900, scripts=True):
        context = self.browser.new_context(
            color_scheme=scheme, viewport={"width": width, "height": height}, java_script_enabled=scripts,
            reduced_motion="reduce", device_scale_factor=float(os.environ.get("PAGES_SCALE", "1")))
        context.set_default_timeout(180_000)
        page = context.new_page()
        noted = []
        page.on("console", lambda message: noted.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: noted.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (noted.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("popup", lambda popup: noted.append(f"popup: {popup.url}"))
        own = file.as_uri()
        page.on("request", lambda request: None if request.url.split("#")[0] in (own, "data:,")
                else noted.append(f"request: {request.url}"))
        try:
            page.goto(own, wait_until="load")
            yield page
            if noted:
                raise Misbehaved(f"{file.name}: {noted}")
        finally:
            context.close()


@contextlib.contextmanager
def chromium():
    # Chromium does not run as root in its sandbox, and in containers everybody is root.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ["CHROMIUM"], args=arguments)
        try:
            yield Browser(browser)
        finally:
            browser.close()


def check_accessibility(page, name):
    """What axe finds, with all its rules but those of experiments."""
    page.evaluate(AXE)
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    violations = [
        f"{violation['id']} ({violation['impact']}): {violation['help']}: "
        + "; ".join(node["html"][:160] + " " + (node.get("failureSummary") or "") for node in violation["nodes"][:3])
        for violation in found["violations"]
    ]
    if violations:
        raise Misbehaved(f"{name}: axe finds\n  " + "\n  ".join(violations))
