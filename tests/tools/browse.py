# SPDX-License-Identifier: MIT
"""browse: a collector with keys, asked over real TLS by Python's own library, as a browser or a script would.
"""
import http.client
import json
import ssl
import subprocess
from pathlib import Path

from served import KISEKI, WAIT_S, Collector

PASSWORD = "correct horse"
ROLES = ("view", "control", "admin")


class Answer:
    def __init__(self, response):
        self.status, self.headers, self.body = response.status, response.headers, response.read()

    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json()["error"]


class Secured:
    """A folder of data with keys, and who may ask."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.data = self.folder / "data"
        self.data.mkdir(exist_ok=True)
        self.keys = self.data / "keys"
        self.kiseki("keys", "init")

    def run(self, *words, text=None):
        return subprocess.run([KISEKI, *words, "--dir", self.keys], input=text, text=True,
                              capture_output=True, timeout=WAIT_S, check=False)

    def kiseki(self, *words, text=None):
        done = self.run(*words, text=text)
        assert done.returncode == 0, (words, done)
        return done.stdout.strip()

    def user(self, name, role="view", password=PASSWORD):
        self.kiseki("keys", "user", "add", name, "--role", role, text=password + "\n")

    def token(self, name, role="view"):
        return self.kiseki("keys", "token", "add", name, "--role", role)

    def serve(self, *options):
        return Collector(self.data, *options)

    def context(self, authority=None):
        c = ssl.create_default_context(cafile=authority or self.keys / "ca.pem")
        c.minimum_version = ssl.TLSVersion.TLSv1_2
        return c

    def browser(self, collector, **options):
        return Browser(collector.http_port, self.context(), **options)


class Browser:
    """One client: what it shows, and a connection that it keeps."""

    def __init__(self, port, context, source=None, host="127.0.0.1"):
        self.port, self.context = port, context
        self.source = (source, 0) if source else None
        self.host = host
        self.cookie = self.proof = self.bearer = None
        self.connection = None

    def headers(self, method, more):
        h = {"Cookie": self.cookie, "Authorization": self.bearer and f"Bearer {self.bearer}"}
        if method != "GET":
            h["Kiseki-Csrf"] = self.proof
        h.update(more or {})
        return {key: value for key, value in h.items() if value is not None}

    def begin(self, method, path, body=None, headers=None):
        """On the connection that is there; one that rested for too long is made again, as browsers do."""
        if self.connection:
            try:
                return self.send(method, path, body, headers)
            except (ConnectionError, http.client.RemoteDisconnected, ssl.SSLEOFError):
                self.close()
        return self.send(method, path, body, headers)

    def send(self, method, path, body, headers):
        if not self.connection:
            self.connection = http.client.HTTPSConnection(
                self.host, self.port, context=self.context, timeout=WAIT_S,
                source_address=self.source)
        text = None if body is None else json.dumps(body)
        self.connection.request(method, path, text, self.headers(method, headers))
        return self.connection.getresponse()

    def ask(self, method, path, body=None, headers=None):
        return Answer(self.begin(method, path, body, headers))

    def get(self, path, headers=None):
        return self.ask("GET", path, headers=headers)

    def post(self, path, body=None, headers=None):
        return self.ask("POST", path, {} if body is None else body, headers)

    def log_in(self, user, password=PASSWORD):
        a = self.post("/api/v1/login", {"user": user, "password": password})
        if a.status == 200:
            self.cookie = a.headers["Set-Cookie"].split(";")[0]
            self.proof = a.json()["csrf"]
        return a

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None
