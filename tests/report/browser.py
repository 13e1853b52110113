"""A headless Chromium, driven through chromedriver's WebDriver protocol (W3C recommendation)."""
import base64
import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key that WebDriver gives


class BrowserError(Exception):
    pass


def is_there():
    return shutil.which("chromium") is not None and shutil.which("chromedriver") is not None


class Browser:
    def __init__(self, folder, width=1500, height=950, dark=False):
        self.log = open(f"{folder}/chromedriver.log", "wb")
        self.process = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE,
                                        stderr=self.log)
        self.port = self.find_port()
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--force-device-scale-factor=1", "--hide-scrollbars",
                     f"--window-size={width},{height}", f"--user-data-dir={folder}/profile"]
        if dark:
            arguments.append("--force-dark-mode")
        options = {"args": arguments, "binary": shutil.which("chromium")}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options,
                  "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = None
        made = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = made["sessionId"]

    def find_port(self):
        """The port that chromedriver says it listens on."""
        for line in self.process.stdout:
            words = line.decode(errors="replace").split()
            if "successfully" in words:
                return int(words[-1].rstrip("."))
        raise BrowserError("chromedriver does not start")

    def ask(self, method, path, body=None):
        where = f"/session/{self.session}" if self.session else ""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{where}{path}", data=data,
                                         method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise BrowserError(error.read().decode(errors="replace")[:1000]) from None

    def close(self):
        try:
            self.ask("DELETE", "")
        except (BrowserError, OSError):
            pass
        self.process.terminate()
        self.process.wait(20)
        self.process.stdout.close()
        self.log.close()

    def open(self, url):
        self.ask("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments, seconds=20):
        """Until the script gives something true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if value := self.run(script, *arguments):
                return value
            time.sleep(0.05)
        raise BrowserError(f"waited {seconds} s for: {script}")

    def pointer(self, *steps):
        """Steps as in ("move", x, y), "down", "up", in coordinates of the window."""
        actions = []
        for step in steps:
            if isinstance(step, tuple):
                actions.append({"type": "pointerMove", "duration": 0, "origin": "viewport",
                                "x": int(step[1]), "y": int(step[2])})
            else:
                actions.append({"type": {"down": "pointerDown", "up": "pointerUp"}[step],
                                "button": 0})
        self.ask("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"},
             "actions": actions}]})

    def click(self, x, y):
        self.pointer(("move", x, y), "down", "up")

    def wheel(self, x, y, by):
        self.ask("POST", "/actions", {"actions": [{"type": "wheel", "id": "wheel", "actions": [
            {"type": "scroll", "x": int(x), "y": int(y), "deltaX": 0, "deltaY": by, "duration": 0,
             "origin": "viewport"}]}]})

    def keys(self, text):
        """To what has the focus. WebDriver's private characters name keys: \ue007 is Enter."""
        actions = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys",
                                                   "actions": actions}]})

    def element(self, selector):
        return self.ask("POST", "/element", {"using": "css selector",
                                             "value": selector})[ELEMENT]

    def write(self, selector, text):
        element = self.element(selector)
        self.ask("POST", f"/element/{element}/clear", {})
        self.ask("POST", f"/element/{element}/value", {"text": text})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).innerText", selector)

    def screenshot(self):
        return base64.b64decode(self.ask("GET", "/screenshot"))

    def messages(self):
        """What the console was told since the last time: errors and warnings."""
        entries = self.ask("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]
