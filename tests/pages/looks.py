"""Looks at pages as people do: with eyes, with the keyboard, without scripts, on paper.

    looks.py FOLDER    FOLDER has the pages; screenshots go to FOLDER/screenshots
"""

import contextlib
import json
import pathlib
import sys
import time

from browser import check_accessibility, chromium
from deployment import ESTATE, PAGE, RUN, serving

FOLDER = pathlib.Path(sys.argv[1]).resolve()
SHOTS = FOLDER / "screenshots"
SCHEMES = ["light", "dark"]


def case(function):
    CASES.append(function)
    return function


CASES = []


def runs():
    """Pages of runs, and of saved plans where somebody has put some there."""
    return [FOLDER / name for name in ["waiting.html", "deciding.html", "rejected.html", "applied.html"]] + sorted(FOLDER.glob("demo-*.html"))


def visible(page):
    return page.locator("#changes .c:visible").count()


@case
def every_page_is_accessible_and_quiet_in_light_and_dark(browser):
    for file in [*runs(), FOLDER / "drift.html", FOLDER / "refused.html"]:
        for scheme in SCHEMES:
            with browser.page(file, scheme) as page:
                check_accessibility(page, f"{file.name}, {scheme}")
                page.screenshot(path=SHOTS / f"{file.stem}-{scheme}.png", full_page=True)
                page.evaluate("() => document.querySelectorAll('details').forEach((d) => { d.open = true; })")
                check_accessibility(page, f"{file.name}, {scheme}, opened")
                page.screenshot(path=SHOTS / f"{file.stem}-{scheme}-opened.png", full_page=True)


@case
def hostile_texts_are_texts(browser):
    texts = json.loads((FOLDER / "hostile.json").read_text())
    for number, text in enumerate(texts):
        for kind, forms in [("hostile", 0), ("hostile-deciding", 1)]:
            with browser.page(FOLDER / f"{kind}-{number:02}.html") as page:
                page.evaluate("() => document.querySelectorAll('details').forEach((d) => { d.open = true; })")
                page.mouse.move(300, 300)
                shown = page.evaluate("() => document.querySelector('h1').textContent")
                expected = "".join(c if c.isprintable() or c == " " else f"⟨U+{ord(c):04X}⟩" for c in text)
                assert shown == expected, (text, shown)
                assert page.title().startswith(expected.strip()[:4]), page.title()
                assert page.evaluate("() => document.scripts.length") == 1
                assert page.evaluate("() => document.querySelectorAll('img,iframe,object,base,style:not(head style)').length") == 0
                for link in page.evaluate("() => [...document.links].map((a) => a.protocol)"):
                    assert link in ("file:", "https:", "http:"), link
                sends = page.evaluate("() => [...document.querySelectorAll('form[method=post],[formaction]')].map((e) => e.formAction ?? e.action)")
                assert len(sends) == 2 * forms and all(to.startswith(FOLDER.as_uri()) for to in sends), sends
    print(f"  {len(texts)} hostile texts")


@case
def changes_are_found(browser):
    with browser.page(FOLDER / "waiting.html") as page:
        every = visible(page)
        assert page.locator("#count").inner_text() == f"{every} changes"
        page.fill("#q", "POLICY archive")
        page.wait_for_function("() => document.querySelectorAll('#changes .c:not([hidden])').length === 1")
        assert "aws_iam_role_policy" in page.locator("#changes .c:visible").inner_text()
        page.fill("#q", "there is no such thing")
        page.locator(".none").wait_for(state="visible")
        page.click("#clear")
        assert visible(page) == every
        page.click(".chip[data-a=create]")
        created = visible(page)
        assert 0 < created < every
        page.click(".chip[data-a=destroy]")
        assert visible(page) == created + 1, "several actions add up"
        assert page.get_attribute(".chip[data-a=create]", "aria-pressed") == "true"
        page.select_option("#module", "module.storage")
        assert visible(page) == 1
        page.click(".chip[data-a=create]")
        page.click(".chip[data-a=destroy]")
        page.select_option("#module", "*")
        page.select_option("#type", "aws_instance")
        assert visible(page) == 2
        assert page.locator("#changes .m:visible").count() == 1, "modules without changes are not shown"
        page.select_option("#type", "*")
        page.click("#danger")
        assert visible(page) == 2
        page.screenshot(path=SHOTS / "filtered.png")


@case
def the_keyboard_does_it_all(browser):
    with browser.page(FOLDER / "waiting.html") as page:
        focused = "() => document.activeElement.closest('.c')?.id ?? document.activeElement.id"
        page.keyboard.press("/")
        assert page.evaluate(focused) == "q"
        page.keyboard.type("instance")
        page.wait_for_function("() => document.querySelectorAll('#changes .c:not([hidden])').length < 5")
        page.keyboard.press("Escape")
        assert page.input_value("#q") == ""
        page.keyboard.press("j")
        first = page.evaluate(focused)
        page.keyboard.press("j")
        second = page.evaluate(focused)
        assert first != second and first.startswith("c") and second.startswith("c")
        page.keyboard.press("k")
        assert page.evaluate(focused) == first
        page.keyboard.press("Enter")
        assert page.evaluate(f"() => document.getElementById('{first}').open")
        page.keyboard.press("Enter")
        assert not page.evaluate(f"() => document.getElementById('{first}').open")
        page.keyboard.press("o")
        assert page.locator("#changes .c:not([open])").count() == 0
        page.keyboard.press("o")
        assert page.locator("#changes .c[open]").count() == 0
        page.keyboard.press("d")
        assert visible(page) == 2
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        assert page.locator("#help").is_visible()
        check_accessibility(page, "the keys")
        page.uncheck("#letters")
        page.keyboard.press("Escape")
        assert not page.locator("#help").is_visible()
        before = page.evaluate(focused)
        page.keyboard.press("j")
        assert page.evaluate(focused) == before, "letters are switched off"
        # Every control is reached.
        page.evaluate("() => document.activeElement.blur()")
        reached = set()
        for _ in range(80):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("() => document.activeElement.tagName"))
        assert {"A", "BUTTON", "INPUT", "SELECT", "SUMMARY"} <= reached, reached


@case
def what_is_dangerous_leads_to_its_change_and_commands_are_copied(browser):
    with browser.page(FOLDER / "waiting.html") as page:
        link = page.locator(".dangers a").first
        target = link.get_attribute("href")[1:]
        link.click()
        page.wait_for_function(f"() => document.getElementById('{target}').open")
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.locator(".copy").first.click()
        page.wait_for_function("() => /Copied|Selected/.test(document.querySelector('.copy').textContent)")
        page.locator(".graph a").first.click()
        assert page.evaluate("() => location.hash").startswith("#c")


@contextlib.contextmanager
def visited(browser, address, scripts=True):
    """A page of a server, which may lead elsewhere."""
    context = browser.browser.new_context(java_script_enabled=scripts)
    try:
        page = context.new_page()
        page.goto(address, wait_until="load")
        yield page
    finally:
        context.close()


@case
def whoever_looks_decides_by_a_click_or_a_key_and_no_script_and_no_other_site_does(browser):
    elsewhere = f"""<!doctype html><form method="post"><input type="hidden" name="estate" value="{ESTATE}">
        <button>Win</button></form>"""
    with serving({PAGE: (FOLDER / "deciding.html").read_bytes(), "/elsewhere": elsewhere.encode()}) as deployment:

        def decided(verb):
            [(path, headers, body)] = deployment.sent
            deployment.sent.clear()
            assert path == f"/runs/{RUN}/{verb}", path
            assert headers["sec-fetch-site"] == "same-origin" and headers["origin"] == deployment.address(""), headers
            assert headers["content-type"] == "application/x-www-form-urlencoded", headers
            assert body.startswith(f"estate={ESTATE}&plan_digest=") and len(body.split("=")[-1]) == 64, body

        for name, verb in [("approve", "approve"), ("decline", "reject")]:
            button = f".decide button{'.approve' if verb == 'approve' else ':not(.approve)'}"
            with visited(browser, deployment.address(PAGE)) as page:
                assert page.locator(button).is_visible() and name in page.locator(button).inner_text().lower()
                for key in ["j", "k", "Enter", "o", "d", "Escape", "?", "Escape", "/", "Enter", "Escape"]:
                    page.keyboard.press(key)
                assert not deployment.sent, "a key of the page's own sends something"
                page.evaluate("() => document.activeElement.blur()")
                for _ in range(200):
                    page.keyboard.press("Tab")
                    if page.evaluate("(button) => document.activeElement.matches(button)", button):
                        break
                with page.expect_navigation():
                    page.keyboard.press("Enter")
                assert page.url == deployment.address(PAGE), page.url
                decided(verb)
            with visited(browser, deployment.address(PAGE), scripts=False) as page:
                with page.expect_navigation():
                    page.locator(button).click()
                decided(verb)
        # How a browser tells of another site: what the API refuses.
        with visited(browser, deployment.address("/elsewhere", host="localhost")) as page:
            page.evaluate("(to) => { document.forms[0].action = to; }", deployment.address(f"/runs/{RUN}/approve"))
            with page.expect_navigation():
                page.locator("button").click()
            [(_, headers, _)] = deployment.sent
            assert headers["sec-fetch-site"] == "cross-site", headers


@case
def it_reads_without_scripts_and_on_paper_and_on_a_telephone(browser):
    with browser.page(FOLDER / "waiting.html", scripts=False) as page:
        assert page.locator("#changes .c:visible").count() == 10
        assert not page.locator(".filters").is_visible() and not page.locator(".copy").first.is_visible()
        page.locator("#changes .c summary").first.click()
        assert page.locator("#changes .c .rows:visible").count() == 1
    with browser.page(FOLDER / "waiting.html") as page:
        page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
        assert page.locator("details:not([open])").count() == 0
        page.evaluate("() => dispatchEvent(new Event('afterprint'))")
        assert page.locator("#changes .c[open]").count() == 0
        page.pdf(path=SHOTS / "printed.pdf", print_background=True)
    for file in [FOLDER / "waiting.html", FOLDER / "deciding.html", FOLDER / "refused.html", FOLDER / "drift.html"]:
        with browser.page(file, width=320) as page:
            page.evaluate("() => document.querySelectorAll('details').forEach((d) => { d.open = true; })")
            wide = page.evaluate("() => document.documentElement.scrollWidth")
            assert wide <= 320, f"{file.name} is {wide} wide"
            page.screenshot(path=SHOTS / f"{file.stem}-narrow.png", full_page=True)


@case
def five_thousand_changes_open_at_once(browser):
    file = FOLDER / "many.html"
    times = []
    for _ in range(3):
        with browser.page(file) as page:
            times.append(page.evaluate("""() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => {
                const paint = performance.getEntriesByName('first-contentful-paint')[0];
                const loaded = performance.getEntriesByType('navigation')[0];
                done([paint ? paint.startTime : 0, loaded.loadEventEnd]);
            })))"""))
    painted, loaded = (sorted(time[i] for time in times)[1] for i in range(2))
    with browser.page(file) as page:
        assert page.locator("#changes .c").count() == 5_000
        gaps = page.evaluate("""() => new Promise((done) => {
            const gaps = []; let last = performance.now(); let step = 0;
            const frame = (now) => {
                gaps.push(now - last); last = now;
                scrollBy(0, 900);
                if (++step < 120) requestAnimationFrame(frame); else done(gaps.slice(1));
            };
            requestAnimationFrame(frame);
        })""")
        page.keyboard.press("/")
        begun = time.monotonic()
        page.keyboard.type("policy")
        page.wait_for_function("() => document.querySelectorAll('#changes .c:not([hidden])').length < 5000")
        searched = time.monotonic() - begun
    gaps.sort()
    print(f"  5 000 changes ({file.stat().st_size / 1e6:.1f} MB): painted after {painted:.0f} ms, loaded after {loaded:.0f} ms; "
          f"scrolling, half of the frames took less than {gaps[len(gaps) // 2]:.0f} ms and 95% less than {gaps[len(gaps) * 95 // 100]:.0f} ms; "
          f"a search of 6 letters took {searched * 1000:.0f} ms")


def main():
    SHOTS.mkdir(exist_ok=True)
    wanted = sys.argv[2:]
    with chromium() as browser:
        for check in CASES:
            if wanted and check.__name__ not in wanted:
                continue
            print(check.__name__.replace("_", " "))
            check(browser)
    print(f"the screenshots are in {SHOTS}")


main()
