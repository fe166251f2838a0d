#!/usr/bin/env python3
"""Drives a report page in a headless Chromium, as a reader would, and checks what it does.

    scripts/check-page.py PAGE.html [FOLDER]      # screenshots and the PDF go to FOLDER
    scripts/check-page.py --large PAGE.html       # only that a large page opens, with its times

Needs `chromium` and `chromedriver` and Python's own library: chromedriver is spoken to over plain
HTTP. The page has to be the one that `cargo run -p dissensus-report --example page` writes: a study
whose names and texts try to run a script. `scripts/check-page.sh` does all of it.
"""

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
ENTER, ESCAPE, TAB = "\ue007", "\ue00c", "\ue004"
LEFT, RIGHT, DOWN = "\ue012", "\ue014", "\ue015"
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
]


class Browser:
    """A session of chromedriver."""

    def __init__(self, folder):
        self.driver = subprocess.Popen(
            [shutil.which("chromedriver"), "--port=0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self.address = None
        for line in self.driver.stdout:
            if "started successfully on port" in line:
                self.address = f"http://127.0.0.1:{line.split('port')[-1].strip(' .' + chr(10))}"
                break
        if self.address is None:
            raise RuntimeError("chromedriver did not start")
        # Its own address is asked directly, whatever proxy there is.
        self.opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self.session = ""
        options = {
            "binary": shutil.which("chromium"),
            "args": [*ARGUMENTS, f"--user-data-dir={folder}/profile"],
            "prefs": {"download.default_directory": str(folder)},
        }
        wanted = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            # A dialog that a page opens stays open, so that it is noticed.
            "unhandledPromptBehavior": "ignore",
        }
        made = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"/session/{made['sessionId']}"

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        try:
            with self.opener.open(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.read().decode()[:2000]}") from error

    def post(self, path, **body):
        return self.ask("POST", self.session + path, body)

    def open(self, address):
        self.post("/url", url=address)

    def js(self, script, *arguments):
        return self.post("/execute/sync", script=script, args=list(arguments))

    def find(self, selector):
        return self.post("/element", using="css selector", value=selector)[ELEMENT]

    def click(self, selector):
        self.js("document.querySelector(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'})", selector)
        self.post(f"/element/{self.find(selector)}/click")

    def keys(self, text):
        """Presses keys where the focus is."""
        steps = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.post("/actions", actions=[{"type": "key", "id": "keys", "actions": steps}])

    def hover(self, selector):
        self.js("document.querySelector(arguments[0]).scrollIntoView({block: 'center', behavior: 'instant'})", selector)
        at = {ELEMENT: self.find(selector)}
        steps = [{"type": "pointerMove", "duration": 0, "x": x, "y": 0, "origin": at} for x in (1, 0)]
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}
        self.post("/actions", actions=[pointer])

    def choose(self, name, value):
        """Chooses an option of the explorer, as a reader would: a change and an event."""
        self.js(
            "const box = document.querySelector(`#controls [name=${arguments[0]}]`);"
            "box.value = arguments[1]; box.dispatchEvent(new Event('input', {bubbles: true}));",
            name,
            value,
        )
        time.sleep(0.3)

    def cdp(self, command, **parameters):
        return self.post("/goog/cdp/execute", cmd=command, params=parameters)

    def log(self, kind):
        return self.post("/se/log", type=kind)

    def size(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def screenshot(self, path, whole=False):
        got = self.cdp("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(got["data"]))

    def dialog(self):
        """The text of a dialog that a script opened, if one did."""
        try:
            return self.ask("GET", self.session + "/alert/text")
        except RuntimeError:
            return None

    def close(self):
        try:
            self.ask("DELETE", self.session)
        except (OSError, RuntimeError):
            pass  # It hangs: what went wrong was said before.
        finally:
            # The driver and the browsers that it started.
            os.killpg(self.driver.pid, signal.SIGKILL)
            self.driver.wait(20)


passed = 0


def check(holds, what):
    """Counts what holds; stops at what does not."""
    global passed
    if not holds:
        raise SystemExit(f"FAILED: {what}")
    passed += 1


def until(holds, what):
    for _ in range(50):
        if holds():
            return check(True, what)
        time.sleep(0.1)
    check(False, what)


def column(page, at):
    return page.js(
        "return [...document.querySelectorAll('[data-table=\"0\"] tbody tr')]"
        ".map((row) => Number(row.cells[arguments[0]].dataset.value))",
        at,
    )


def opens(page, address):
    start = time.monotonic()
    page.open(address)
    print(f"opened in {time.monotonic() - start:.2f} s")
    page.js("addEventListener('securitypolicyviolation', (e) => { window.violated = e.violatedDirective; })")
    check(page.js("return document.readyState") == "complete", "the page loads")
    check(page.js("return document.querySelectorAll('main, nav, header.top, footer').length") == 4, "landmarks")


def escapes(page):
    check(page.js("return window.hacked") is None, "a script in the data ran")
    check(page.js("return document.querySelectorAll('img, main script, main b[onclick], iframe').length") == 0,
          "markup in the data became elements")
    check("<script>window.hacked" in page.js("return document.title"), "the title shows markup as text")
    shown = page.js("return document.querySelector('h1').innerText")
    check("{{script}}" in shown and "</textarea>" in shown, "the heading shows markup as text")
    check(page.dialog() is None, "a dialog opened")


def tables(page):
    original = column(page, 1)
    check(len(original) == 4, "a row for each arm")
    page.click('[data-table="0"] [data-sort="1"]')
    check(column(page, 1) == sorted(original), "a click sorts")
    head = "return document.querySelector('[data-table=\"0\"] [data-sort=\"1\"]').closest('th').getAttribute('aria-sort')"
    check(page.js(head) == "ascending", "aria-sort says so")
    page.js("document.querySelector('[data-table=\"0\"] [data-sort=\"1\"]').focus()")
    page.keys(ENTER)
    check(column(page, 1) == sorted(original, reverse=True), "Enter sorts the other way")
    check(page.js(head) == "descending", "aria-sort follows")
    page.keys(ENTER)
    check(column(page, 1) == original and page.js(head) == "none", "and back")
    # From one head the tab key reaches the next.
    page.keys(TAB + TAB)
    check(page.js("return document.activeElement.dataset.sort") == "2", "tab goes on to the next head")
    page.click('[data-table="0"] [data-sort="0"]')
    names = page.js("return [...document.querySelectorAll('[data-table=\"0\"] tbody th')].map((th) => th.innerText)")
    check(names[1:] == ["Majority label", "Sampled labels", "Soft labels"], f"names sort: {names}")
    page.click('[data-table="0"] [data-sort="0"]')
    page.click('[data-table="0"] [data-sort="0"]')

    page.hover('[data-table="0"] tbody td')
    check("seed 1:" in page.js("return document.querySelector('#tip').innerText"), "a cell's tip")
    page.js("document.querySelector('[data-table=\"0\"] tbody td').focus()")
    page.keys(RIGHT + DOWN)
    place = page.js("const at = document.activeElement; return [at.parentElement.sectionRowIndex, at.cellIndex]")
    check(place == [1, 2], "arrow keys go from cell to cell")
    check("Wilcoxon" in page.js("return document.querySelector('#tip').innerText"), "a tip by keyboard")
    page.keys(ESCAPE)
    check(page.js("return document.querySelector('#tip').hidden"), "Escape hides the tip")

    visible = "return getComputedStyle(document.querySelector('[data-table=\"0\"] .published')).display"
    check(page.js(visible) == "none", "published values are hidden first")
    page.click('[data-table="0"] [data-published]')
    check(page.js(visible) == "block", "the switch shows them")

    page.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    for form, start in (("markdown", "| Soft labels"), ("latex", "\\begin{table"), ("csv", "main,pictures,soft")):
        page.js("window.copied = null; navigator.clipboard.writeText = async (text) => { window.copied = text; }")
        page.click(f'[data-table="0"] [data-copy="{form}"]')
        until(lambda: page.js("return window.copied"), f"{form} is copied")
        text = page.js("return window.copied")
        check(start in text, f"{form}: {text[:1000]}")


def how(page):
    button = '[data-table="0"] [data-how]'
    page.js("document.querySelector(arguments[0]).focus()", button)
    page.keys(ENTER)
    check(page.js("return document.querySelector('#how').open"), "the button opens how a number is made")
    check("−Σ_k p_k ln q_k" in page.js("return document.querySelector('#how').innerText"), "with its formula")
    page.keys(ESCAPE)
    check(not page.js("return document.querySelector('#how').open"), "Escape closes it")
    check(page.js("return document.activeElement === document.querySelector(arguments[0])", button), "the focus is back")
    page.keys(ENTER)
    page.click("#how form button")
    check(not page.js("return document.querySelector('#how').open"), "its button closes it")


def figures(page, folder):
    count = (
        "return [...document.querySelectorAll('[data-figure]')].map((figure) =>"
        " [...figure.querySelectorAll('[data-arm=\"soft\"]')].filter((mark) => getComputedStyle(mark).display !== 'none').length)"
    )
    before = page.js(count)
    check(before[0] > 0, "the first figure has marks of an arm")
    soft = page.js(
        "return [...document.querySelectorAll('#page-arms label')].findIndex((label) => label.innerText === 'Soft labels') + 1"
    )
    switch = f"#page-arms label:nth-of-type({soft}) input"
    cells = (
        "return [...document.querySelectorAll('.results')].map((table) =>"
        " [...table.querySelectorAll('[data-arm=\"soft\"]')].filter((cell) => cell.offsetParent !== null).length)"
    )
    columns = page.js(cells)
    check(any(columns), "tables have an arm")
    page.js("document.querySelector(arguments[0]).focus()", switch)
    page.keys(" ")
    check(not any(page.js(count)), "a switch hides an arm in all figures, by keyboard")
    check(not any(page.js(cells)), "and in all tables")
    whole = (
        "return [...document.querySelectorAll('.results')].every((table) => {"
        " const rows = [...table.tHead.rows].map((row) => [...row.cells].filter((cell) => cell.offsetParent !== null));"
        " const wide = (cells) => cells.reduce((sum, cell) => sum + (cell.matches('.corner') ? 0 : cell.colSpan), 0);"
        " return rows.every((cells) => wide(cells) === wide(rows.at(-1))); })"
    )
    check(page.js(whole), "heads span the columns that are left")
    page.click(switch)
    check(page.js(count) == before and page.js(cells) == columns, "and shows it again in all")

    page.hover("[data-figure] [data-tip]")
    check(page.js("return document.querySelector('#tip').innerText.length") > 3, "a mark's tip")
    first = page.js(
        "const mark = document.querySelector('[data-figure] [data-tip][tabindex=\"0\"]'); mark.focus();"
        "return document.querySelector('#tip').innerText"
    )
    page.keys(RIGHT)
    second = page.js("return document.querySelector('#tip').innerText")
    check(first and second and first != second, f"tips by keyboard: {first!r}, {second!r}")

    page.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    page.click("[data-figure] [data-download]")
    name = page.js("return document.querySelector('[data-figure]').dataset.figure")
    file = folder / f"{name}.svg"
    until(file.exists, "the drawing is downloaded")
    check("<title>" in file.read_text(), "and has its titles")


def type_sizes(page, name):
    """The letters of all figures have one size."""
    scales = page.js(
        "return [...document.querySelectorAll('.drawing > svg')].map((svg) =>"
        " svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)"
    )
    check(len(scales) > 1 and max(scales) < 1.01 * min(scales), f"{name}: figures have the scales {scales}")
    check(min(scales) > 1, f"{name}: letters are at least as large as on paper")


def ids(page):
    return page.js("return [...document.querySelectorAll('#grid .item')].map((item) => item.dataset.id)")


def explorer(page):
    check(len(ids(page)) == 24, "a page of items")
    heads = "return document.querySelectorAll('#grid .item:first-child .bars thead th').length"
    bars = page.js(heads)
    check(bars == 5, f"votes and four arms: {bars}")
    page.click("#page-arms label:nth-of-type(2) input")
    check(page.js(heads) == 4, "the page's switch hides an arm of the items, too")
    page.click("#page-arms label:nth-of-type(2) input")
    until(lambda: page.js(
        "const canvas = document.querySelector('#grid canvas');"
        "return new Set(canvas.getContext('2d').getImageData(0, 0, 32, 32).data).size > 10"), "pictures are drawn")
    entropy = "return [...document.querySelectorAll('#grid .facts')].map((p) => Number(/entropy ([0-9.]+)/.exec(p.innerText)[1]))"
    values = page.js(entropy)
    check(values == sorted(values, reverse=True), "by entropy, the highest first")
    page.choose("order", "up")
    values = page.js(entropy)
    check(values == sorted(values), "and the lowest first")
    page.choose("sort", "kl")
    page.choose("arm", "2")
    kl = "return [...document.querySelectorAll('#grid .bars tfoot tr:first-child')].map((row) => Number(row.cells[4].innerText))"
    values = page.js(kl)
    check(values == sorted(values, reverse=True) and len(set(values)) > 5, f"by distance: {values}")
    page.choose("sort", "gain")
    gain = "return [...document.querySelectorAll('#grid .facts')].map((p) => Number(/gain (.?[0-9.]+)/.exec(p.innerText)[1].replace('−', '-')))"
    values = page.js(gain)
    check(values == sorted(values, reverse=True) and len(set(values)) > 5, f"by gain: {values}")
    page.choose("sort", "id")
    check(ids(page)[:3] == ["item-0", "item-1", "item-2"], "by id, as people count")

    page.js("document.querySelector('#grid').focus()")
    page.keys(RIGHT)
    check(ids(page)[0] == "item-24", "the arrow key turns the page")
    page.keys(LEFT)
    check(ids(page)[0] == "item-0", "and back")
    page.click('[data-go="1"]')
    check(ids(page)[0] == "item-24", "the button turns the page")
    page.click("#shown label:nth-of-type(2) input")
    bars = page.js("return document.querySelectorAll('#grid .item:first-child .bars thead th').length")
    check(bars == 4, "an arm can be left out")

    page.choose("class", "3")
    some = page.js("return [...document.querySelectorAll('#grid .facts')].map((p) => p.innerText)")
    check(some and all("class 3" in text for text in some), "filter by class")
    page.choose("class", "")
    page.choose("q", "item-17")
    check(ids(page) == ["item-17"], "search by id")
    link = page.js("return location.href")
    check("q=item-17" in link and "sort=id" in link, f"the view is in the address: {link}")
    page.open("about:blank")
    page.open(link)
    check(ids(page) == ["item-17"], "a link leads back to it")
    shown = page.js("return [...document.querySelectorAll('#shown input')].map((box) => box.checked)")
    check(shown == [True, False, True, True, False, False], f"with the same arms: {shown}")

    page.choose("q", "")
    page.choose("dataset", "1")
    page.choose("q", "hacked")
    text = page.js("return document.querySelector('#grid .text').innerText")
    check(text.startswith("<script>window.hacked = 1</script><img src=x"), f"markup shows as text: {text}")
    page.choose("q", "long long")
    text = page.js("return document.querySelector('#grid .text').innerText")
    check(text.endswith("[…] (cut: the first 1000 of 2000 characters)"), "long texts are cut with a mark")
    page.choose("q", "nothing like this")
    check(ids(page) == [], "nothing fits")
    page.choose("q", "")
    escapes(page)


def looks(page, address, folder):
    background = "return getComputedStyle(document.body).backgroundColor"
    page.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])
    page.open("about:blank")
    page.open(address)
    light = page.js(background)
    page.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    dark = page.js(background)
    check(light != dark, "the page follows the system")
    page.click("#theme")
    check(page.js(background) == light, "the button changes it")
    page.open("about:blank")
    page.open(address)
    check(page.js(background) == light, "and it is remembered")
    page.js("localStorage.removeItem('dissensus-theme')")
    for name, scheme, width in (("light", "light", 1280), ("dark", "dark", 1280), ("phone", "light", 390), ("narrow", "light", 360)):
        page.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        page.size(width, 900)
        page.open("about:blank")
        page.open(address)
        time.sleep(0.5)
        over = page.js("return document.documentElement.scrollWidth")
        check(over <= width, f"{name}: the page is {over} wide where there are {width}")
        type_sizes(page, name)
        below = page.js("return document.querySelector('#summary [data-figure]').getBoundingClientRect().top")
        check(below < 900, f"{name}: the page opens with a figure")
        for part in ("top", "tables", "figures", "items", "metrics"):
            page.js(
                "const to = document.getElementById(arguments[0]);"
                "scrollTo({top: to ? to.getBoundingClientRect().top + scrollY - 80 : 0, behavior: 'instant'})",
                part,
            )
            time.sleep(0.2)
            page.screenshot(folder / f"{name}-{part}.png")


def prints(page, folder):
    page.cdp("Emulation.setEmulatedMedia", features=[])
    got = page.cdp("Page.printToPDF", printBackground=False)
    pdf = base64.b64decode(got["data"])
    (folder / "page.pdf").write_bytes(pdf)
    check(pdf.startswith(b"%PDF") and len(pdf) > 20_000, "the page prints")


def quiet(page, address):
    """No error, and no request for anything but the page itself."""
    for entry in page.log("browser"):
        check(entry["level"] not in ("SEVERE", "WARNING"), f"the console says {entry['message']}")
    check(page.js("return window.violated") is None, "the policy was violated")
    asked = set()
    for entry in page.log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked.add(message["params"]["request"]["url"].split("#")[0])
    odd = [url for url in asked if url != address and not url.startswith(("data:", "blob:", "about:"))]
    check(not odd, f"the page asks for {odd}")
    check(address in asked, "requests are seen at all")


def large(page):
    """Times are printed, not judged: they say more about the machine."""
    count = page.js("return JSON.parse(document.querySelector('#collections').textContent)[0].count")
    check(count == 10_000, f"all items are there: {count}")
    check(len(ids(page)) == 24, "a page of items")
    drawn = (
        "const canvas = [...document.querySelectorAll('#grid canvas')].at(-1);"
        "return new Set(canvas.getContext('2d').getImageData(0, 0, 32, 32).data).size > 10"
    )
    until(lambda: page.js(drawn), "pictures are drawn")
    for name, value in (("sort", "gain"), ("sort", "id"), ("q", "item-99"), ("class", "3")):
        took = page.js(
            "const start = performance.now();"
            "view[arguments[0]] = arguments[1]; draw(); document.body.offsetHeight;"
            "return performance.now() - start",
            name,
            value,
        )
        print(f"{name} = {value}: {took:.0f} ms")
        check(ids(page), f"{name} = {value} shows items")


def everything(page, address, scratch, folder):
    escapes(page)
    tables(page)
    how(page)
    figures(page, scratch)
    explorer(page)
    quiet(page, address)
    looks(page, address, folder)
    prints(page, folder)
    quiet(page, address)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--large"]
    file = Path(arguments[0]).resolve()
    scratch = Path(tempfile.mkdtemp(prefix="check-page-"))
    folder = Path(arguments[1]).resolve() if len(arguments) > 1 else scratch / "shots"
    folder.mkdir(parents=True, exist_ok=True)
    page = Browser(scratch)
    try:
        page.size(1280, 900)
        address = file.as_uri()
        # What the browser itself loaded when it started is not the page's doing.
        page.open("about:blank")
        page.log("performance")
        opens(page, address)
        if "--large" in sys.argv:
            large(page)
            quiet(page, address)
        else:
            everything(page, address, scratch, folder)
    finally:
        page.close()
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"the page does what it should: {passed} checks")


if __name__ == "__main__":
    main()
