"""Headless Chromium, told what to do through a pipe (its DevTools protocol): one process for all pages of a test."""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile

NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]
NONE = "there is no Chromium (Debian: chromium-headless-shell)"
SECONDS = 60  # that an answer may take


def find():
    """The program's path; None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One window. What a page says on the console and asks for since `open` is in `messages` and `requests`."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="gpubench-browser-")
        commands, self.to = os.pipe()
        self.answers, said = os.pipe()
        # Chromium reads commands from descriptor 3, and answers on 4.
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (commands, said)]
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
                 "--allow-file-access-from-files", "--disable-background-networking", "--no-first-run",
                 "--disable-dev-shm-usage", f"--user-data-dir={self.profile}"]
        moved = f'exec "$@" 3<&{ends[0]} 4>&{ends[1]}'
        self.process = subprocess.Popen(["bash", "-c", moved, "browser", find(), *flags], pass_fds=ends,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for end in (commands, said, *ends):
            os.close(end)
        self.buffer, self.count, self.session = b"", 0, None
        self.loaded, self.messages, self.requests = set(), [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.to)
        self.process.terminate()
        self.process.wait(SECONDS)
        os.close(self.answers)
        shutil.rmtree(self.profile, ignore_errors=True)

    def read(self):
        """The next message of the browser."""
        while b"\0" not in self.buffer:
            if not select.select([self.answers], [], [], SECONDS)[0]:
                raise TimeoutError(f"Chromium has not answered for {SECONDS} s")
            part = os.read(self.answers, 1 << 16)
            if not part:
                raise EOFError("Chromium has ended")
            self.buffer += part
        one, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(one)

    def note(self, event):
        method, about = event.get("method"), event.get("params", {})
        if method == "Page.lifecycleEvent" and about["name"] == "load":
            self.loaded.add(about["loaderId"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif method == "Network.loadingFailed" and not about.get("canceled"):
            self.messages.append(f"loading failed: {about['errorText']}")
        elif method == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(one.get("value", one.get("description"))) for one in about["args"]))
        elif method == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.messages.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded":
            self.messages.append(f"{about['entry']['text']} {about['entry'].get('url', '')}")

    def call(self, method, **params):
        self.count += 1
        command = {"id": self.count, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.to, json.dumps(command).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") != self.count:
                self.note(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]

    def open(self, address):
        self.messages, self.requests = [], []
        found = self.call("Page.navigate", url=address)
        if "errorText" in found:
            raise RuntimeError(f"{address}: {found['errorText']}")
        while found["loaderId"] not in self.loaded:
            self.note(self.read())

    def show(self, width, scheme, height=900):
        """As a window of this width, where the system's colours are "light" or "dark"."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def ask(self, expression):
        """The value of an expression in the page, of a promise what it is kept with."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"]["description"])
        return found["result"].get("value")

    def picture(self, file):
        with open(file, "wb") as png:
            png.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def paper(self):
        """The page as PDF, on A4 unless it says otherwise."""
        return base64.b64decode(self.call("Page.printToPDF", preferCSSPageSize=True, paperWidth=8.27,
                                          paperHeight=11.69)["data"])
