#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""https: people and programs at a real collector with keys, over real TLS.

	https.py KISEKI FILL_STORE KSK_RANDOM SCENARIO
"""
import json
import os
import pty
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import sealed  # noqa: E402
from browse import PASSWORD, ROLES, Browser, Secured  # noqa: E402
from served import KISEKI, WAIT_S, Collector  # noqa: E402

FILL_STORE, KSK_RANDOM, SCENARIO = sys.argv[2:5]
VIEW, CONTROL, ADMIN = 1, 2, 3
# One route or two of each class; a device that is not there is a 404 for those who may ask.
CLASSES = {
    VIEW: [("GET", "/api/v1/devices"), ("GET", "/api/v1/runs"), ("GET", "/metrics"),
           ("GET", "/api/v1/devices/none/export"), ("GET", "/api/v1/instructions")],
    CONTROL: [("POST", "/api/v1/devices/none/start"), ("POST", "/api/v1/devices/none/configure"),
              ("POST", "/api/v1/devices/none/group"), ("POST", "/api/v1/devices/none/labels")],
    ADMIN: [("GET", "/api/v1/users"), ("POST", "/api/v1/users/none/logout"),
            ("POST", "/api/v1/enroll"), ("POST", "/api/v1/revoke")],
}
OPEN = ["/", "/healthz", "/api/v1/me", "/api/v1/openapi.json"]


def wait_until(what, condition):
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def is_in(browser):
    return browser.get("/api/v1/devices").status == 200


def expect_out(browser):
    a = browser.get("/api/v1/devices")
    assert a.status == 401 and a.error and a.headers["WWW-Authenticate"] == "Bearer", a.body


def handshake(place, c, version):
    context = place.context()
    context.minimum_version = context.maximum_version = version
    with socket.create_connection(("127.0.0.1", c.http_port), timeout=WAIT_S) as s:
        with context.wrap_socket(s, server_hostname="localhost") as t:
            return t.version()


def scenario_tls(place):
    """1.3 and 1.2, nothing older; plain bytes get nothing; a connection serves many requests."""
    c = place.serve()
    assert handshake(place, c, ssl.TLSVersion.TLSv1_3) == "TLSv1.3"
    assert handshake(place, c, ssl.TLSVersion.TLSv1_2) == "TLSv1.2"
    try:
        handshake(place, c, ssl.TLSVersion.TLSv1_1)
        raise AssertionError("TLS 1.1 is spoken")
    except (ssl.SSLError, ConnectionError):
        pass
    with socket.create_connection(("127.0.0.1", c.http_port), timeout=WAIT_S) as s:
        s.sendall(b"GET /api/v1/devices HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        heard = b""
        try:
            while piece := s.recv(65536):
                heard += piece
        except ConnectionError:
            pass
        assert b"HTTP" not in heard, heard
    b = place.browser(c)
    b.bearer = place.token("t")
    first = b.get("/api/v1/devices")
    kept = b.connection.sock
    for _ in range(50):
        assert is_in(b) and b.connection.sock is kept
    for name, value in (("Strict-Transport-Security", "max-age"), ("X-Frame-Options", "DENY"),
                        ("X-Content-Type-Options", "nosniff")):
        assert value in first.headers[name], (name, first.headers)
    assert "frame-ancestors 'none'" in b.get("/").headers["Content-Security-Policy"]
    c.stop()


def scenario_certificates(place):
    """New keys are shown without a restart, a certificate of one's own as well; what belongs together is checked."""
    c = place.serve()
    b = place.browser(c)
    assert b.get("/healthz").status == 200
    old = place.folder / "old.pem"
    shutil.copy(place.keys / "ca.pem", old)
    place.kiseki("keys", "rotate")
    for authority in (old, place.keys / "ca.pem"):
        fresh = Browser(c.http_port, place.context(authority))
        assert fresh.get("/healthz").json() == {"ok": True}
    assert b.get("/healthz").status == 200  # on its old connection
    c.stop()
    # Another authority's folder serves as somebody else's certificate.
    other = place.folder / "other"
    place.run("keys", "init")
    subprocess.run([KISEKI, "keys", "init", "--dir", other], check=True, timeout=WAIT_S,
                   capture_output=True)
    pair = ["--http-certificate", other / "collector.pem", "--http-key", other / "collector.pem"]
    c = place.serve(*pair)
    assert Browser(c.http_port, place.context(other / "ca.pem")).get("/healthz").status == 200
    try:
        place.browser(c).get("/healthz")
        raise AssertionError("the certificate is of the keys")
    except ssl.SSLCertVerificationError:
        pass
    # A renewed one is taken up; one that is no good leaves what was, and says so.
    subprocess.run([KISEKI, "keys", "rotate", "--collector", "--dir", other], check=True,
                   timeout=WAIT_S, capture_output=True)
    assert Browser(c.http_port, place.context(other / "ca.pem")).get("/healthz").status == 200
    (other / "collector.pem").write_text("nothing\n")
    assert Browser(c.http_port, place.context(other / "ca.pem")).get("/healthz").status == 200
    c.wait_log("certificate of before")
    c.stop()
    for words, why in ((pair[:2], "belong together"), (pair, "cannot use the certificate"),
                       (pair + ["--plain-http"], "without keys"),
                       (["--plain-http", "--http", "0.0.0.0:0"], "only loopback")):
        done = subprocess.run([KISEKI, "serve", "--config", "/dev/null", "--data", place.data,
                               "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", *words],
                              capture_output=True, text=True, timeout=WAIT_S, check=False)
        assert done.returncode == 1 and why in done.stderr, (words, done)
    # With keys it answers anywhere; with --plain-http as without.
    c = place.serve("--http", "0.0.0.0:0")
    expect_out(place.browser(c))
    c.stop()
    c = place.serve("--plain-http")
    done = subprocess.run(["curl", "-sf", f"http://127.0.0.1:{c.http_port}/api/v1/devices"],
                          capture_output=True, timeout=WAIT_S, check=False)
    assert done.returncode == 0 and json.loads(done.stdout)["devices"] == [], done
    c.stop()


def scenario_slow(place):
    """Who connects and says nothing, or says it byte by byte, keeps nobody else out, and is shut out in the end."""
    c = place.serve()
    silent = [socket.create_connection(("127.0.0.1", c.http_port)) for _ in range(40)]
    hello = bytes.fromhex("16030100c8010000c40303")
    for s in silent[20:]:
        s.sendall(hello)
    b = place.browser(c)
    b.bearer = place.token("t")
    assert is_in(b)
    dripping = place.browser(c)
    dripping.begin("GET", "/healthz").read()
    stop = threading.Event()

    def drip():
        for byte in b"GET /healthz HTTP/1.1\r\nX: " + b"x" * 10000:
            try:
                dripping.connection.sock.sendall(bytes([byte]))
            except OSError:
                break
            if stop.wait(0.2):
                break

    thread = threading.Thread(target=drip)
    thread.start()
    for s in [*silent, dripping.connection.sock]:
        s.settimeout(WAIT_S)
        try:
            while s.recv(4096):
                pass
        except (ConnectionError, ssl.SSLError):
            pass
        s.close()
    stop.set()
    thread.join()
    b.close()
    assert is_in(b)
    c.stop()


def crowd(c, addresses, each):
    """Silent connections, some of them in the middle of their handshake."""
    made = []
    for address in addresses:
        for i in range(each):
            s = socket.create_connection(("127.0.0.1", c.http_port), timeout=WAIT_S, source_address=(address, 0))
            if i % 2:
                s.sendall(bytes.fromhex("16030100c8010000c40303"))
            made.append(s)
    return made


def scenario_crowd(place):
    """More silent connections than the collector has places, of one address or of many, keep nobody out: neither a newcomer
    nor who has logged in, at once and on his own connection."""
    c = place.serve()
    token = place.token("t")
    here = place.browser(c)
    here.bearer = token
    assert is_in(here)
    kept = here.connection.sock
    for addresses, each in ((["127.0.0.1"], 400), ([f"127.0.1.{i}" for i in range(1, 251)], 2), (["127.0.0.1"], 400)):
        silent = crowd(c, addresses, each)
        for source in ("127.0.0.2", "127.0.0.1"):
            began = time.monotonic()
            newcomer = place.browser(c, source=source)
            newcomer.bearer = token
            assert is_in(newcomer)
            took = time.monotonic() - began
            assert took < 10, f"{len(silent)} silent connections delay {source} by {took:.1f} s"
            newcomer.close()
        assert is_in(here) and here.connection.sock is kept, f"{len(silent)} silent connections ended one that is in use"
        for s in silent:
            s.close()
    c.stop()


def expect(b, role, who):
    for need, routes in CLASSES.items():
        for method, path in routes:
            a = b.ask(method, path, {} if method == "POST" else None)
            if role >= need:
                assert a.status in (200, 400, 404), (who, path, a.status, a.body)
            elif role:
                assert a.status == 403 and "role" in a.error, (who, path, a.status, a.body)
            else:
                assert a.status == 401 and a.error, (who, path, a.status, a.body)


def scenario_roles(place):
    """Each role at each class of route, by a login and by a token; strangers at all of them."""
    c = place.serve()
    for role, name in enumerate(ROLES, 1):
        place.user(f"u-{name}", name)
        b = place.browser(c)
        assert b.log_in(f"u-{name}").json()["role"] == name
        expect(b, role, name)
        b = place.browser(c)
        b.bearer = place.token(f"t-{name}", name)
        expect(b, role, name)
        assert b.get("/api/v1/me").json() == {"needs_login": True, "user": f"t-{name}", "role": name}
    stranger = place.browser(c)
    expect(stranger, 0, "stranger")
    for path in OPEN:
        assert stranger.get(path).status == 200, path
    assert stranger.get("/healthz").json() == {"ok": True}
    assert stranger.get("/api/v1/me").json() == {"needs_login": True, "user": None, "role": "nobody"}
    forged = place.browser(c)
    for cookie in ("__Host-kiseki=" + "0" * 64, "__Host-kiseki=", "__Host-kiseki=" + "f" * 5000,
                   "kiseki=1; __Host-kiseki=../../x"):
        forged.cookie = cookie
        expect(forged, 0, cookie)
    for bearer in ("kst_" + "0" * 64, "", "x y", "k" * 4000):
        forged.cookie, forged.bearer = None, bearer
        expect(forged, 0, bearer)
    assert stranger.get("/api/v1/devices", {"Authorization": "Basic YTpi"}).status == 401
    # What admins do: a token for a device, and its end.
    admin = place.browser(c)
    admin.log_in("u-admin")
    made = admin.post("/api/v1/enroll", {"device": "board-9"}).json()
    assert made["device"] == "board-9" and len(made["token"]) > 40
    assert admin.post("/api/v1/revoke", {"device": "board-9"}).json()["revoked"] == 1
    assert admin.post("/api/v1/revoke", {"device": "board-9"}).status == 404
    assert admin.post("/api/v1/enroll", {"device": "../x"}).status == 400
    users = admin.get("/api/v1/users").json()
    assert {u["name"]: u["role"] for u in users["users"]} == {f"u-{r}": r for r in ROLES}
    assert {t["name"] for t in users["tokens"]} == {f"t-{r}" for r in ROLES}
    assert "hash" not in json.dumps(users) and "$y$" not in json.dumps(users)
    # A role that is taken back is so at once.
    with sealed.connect(place.keys / "people.db") as db:
        db.execute("UPDATE user SET role = 1 WHERE name = 'u-admin'")
    assert admin.get("/api/v1/users").status == 403
    c.stop()


def scenario_csrf(place):
    """What changes something needs the login's own proof, and no page of another site can ask for it."""
    place.user("ann", "admin")
    c = place.serve()
    b = place.browser(c)
    b.log_in("ann")
    proof, path = b.proof, "/api/v1/users/ann/logout"
    for wrong in (None, "", "0" * 32, proof[:-1], proof + "0", b.cookie.split("=")[1]):
        b.proof = wrong
        a = b.post(path)
        assert a.status == 403 and "Kiseki-Csrf" in a.error, a.body
    b.proof = proof
    host = f"https://127.0.0.1:{c.http_port}"
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"},
                    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
                    {"Origin": host.replace("https", "http")}):
        for where in (path, "/api/v1/login"):
            a = b.post(where, headers=headers)
            assert a.status == 403, (where, headers, a.body)
    for method in ("GET", "HEAD", "PUT", "DELETE"):
        a = b.ask(method, path)
        assert a.status == 405, (method, a.status)
    assert is_in(b)
    # Another user's proof is no proof.
    place.user("bob", "admin")
    other = place.browser(c)
    other.log_in("bob")
    b.proof = other.proof
    assert b.post(path).status == 403
    b.proof = proof
    assert b.post(path, headers={"Origin": host}).json() == {"ended": 1}
    expect_out(b)
    # A token needs no proof: no browser sends it by itself.
    b.cookie = b.proof = None
    b.bearer = place.token("t", "admin")
    assert b.post("/api/v1/users/bob/logout").status == 200
    c.stop()


def follow(b):
    """A live stream of this browser; returns what is set when it has ended."""
    response = b.begin("GET", "/api/v1/live")
    assert response.status == 200 and response.readline()
    ended = threading.Event()

    def read():
        try:
            while response.readline():
                pass
        except (OSError, ssl.SSLError):
            pass
        ended.set()

    threading.Thread(target=read, daemon=True).start()
    return ended


def scenario_logins(place):
    """A login ends by logging out, with its user, with the password, and with the collector; so does what it follows."""
    place.user("ann", "control")
    c = place.serve()
    b = place.browser(c)
    a = b.log_in("ann")
    rules = {part.strip().lower() for part in a.headers["Set-Cookie"].split(";")[1:]}
    assert rules == {"path=/", "secure", "httponly", "samesite=strict"}, rules
    assert b.cookie.startswith("__Host-") and len(b.cookie.split("=")[1]) == 64
    assert b.get("/api/v1/me").json()["csrf"] == b.proof
    assert is_in(b)
    a = b.post("/api/v1/logout")
    assert a.status == 200 and "Max-Age=0" in a.headers["Set-Cookie"]
    expect_out(b)  # the cookie, played again
    assert b.post("/api/v1/logout").status == 401

    for words, text in ((("passwd", "ann"), "another horse\n"), (("remove", "ann"), None)):
        b, viewer = place.browser(c), place.browser(c)
        password = PASSWORD if text else "another horse"
        assert b.log_in("ann", password).status == 200
        viewer.cookie = b.cookie
        ended = follow(viewer)
        assert is_in(b) and not ended.is_set()
        place.kiseki("keys", "user", *words, text=text)
        expect_out(b)
        assert ended.wait(WAIT_S), words
    # One login too many ends the one that rests longest.
    place.user("bob")
    many = []
    for _ in range(17):
        many.append(place.browser(c))
        assert many[-1].log_in("bob").status == 200
    expect_out(many[0])
    assert all(is_in(one) for one in many[1:])
    # Logging in again ends who one was.
    cookie = many[1].cookie
    assert many[1].log_in("bob").status == 200 and many[1].cookie != cookie
    many[1].cookie = cookie
    expect_out(many[1])
    # Nothing of it lies anywhere.
    kept = b"".join(path.read_bytes() for path in place.keys.iterdir())
    for secret in (PASSWORD, many[2].cookie.split("=")[1]):
        assert secret.encode() not in kept and not c.count_log(secret)
    assert (place.keys / "people.db").stat().st_mode & 0o777 == 0o600
    c.stop()
    c.again()
    many[2].port = c.http_port
    many[2].close()
    expect_out(many[2])
    c.stop()


def scenario_ends(place):
    """A login that is not used ends, and one that is used does so, too, when it is too old."""
    place.user("ann")
    c = place.serve("--login-idle", "5s", "--login-length", "1h")
    b, viewer = place.browser(c), place.browser(c)
    b.log_in("ann")
    viewer.cookie = b.cookie
    ended = follow(viewer)  # which is no use of the login
    assert ended.wait(WAIT_S)
    expect_out(b)
    c.stop()
    c = place.serve("--login-idle", "1h", "--login-length", "5s")
    b = place.browser(c)
    b.log_in("ann")
    wait_until("it never ends", lambda: not is_in(b))
    expect_out(b)
    c.stop()


def scenario_tokens(place):
    """A token is out as soon as it is revoked or has ended, and what it follows with it."""
    c = place.serve()
    for name, end in (("revoked", lambda: place.kiseki("keys", "token", "revoke", "revoked")),
                      ("old", None)):
        b, viewer = place.browser(c), place.browser(c)
        viewer.bearer = b.bearer = place.token(name)
        ended = follow(viewer)
        assert is_in(b) and not ended.is_set()
        if end:
            end()
        else:
            with sealed.connect(place.keys / "people.db") as db:
                db.execute("UPDATE token SET until = 1")
        expect_out(b)
        assert ended.wait(WAIT_S), name
    assert "has ended" in b.get("/api/v1/devices").error
    rows = json.loads(place.kiseki("keys", "token", "list", "--json"))["tokens"]
    assert [(r["token"], r["role"], r["state"]) for r in rows] == [("old", "view", "ended")]
    done = place.run("keys", "token", "add", "old")
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "there is one" in done.stderr
    kept = (place.keys / "people.db").read_bytes()
    assert b.bearer.encode() not in kept and not c.count_log(b.bearer)
    for words in (["token", "add", "x", "--role", "root"], ["token", "add", "x", "--days", "-1"],
                  ["user", "add", "x", "--role", ""]):
        assert place.run("keys", *words, text="").returncode == 2, words
    for words, text in ((["token", "add", "../x"], None), (["user", "add", "x" * 64], PASSWORD),
                        (["user", "add", "x"], "short\n"), (["user", "add", "x"], ""),
                        (["user", "add", "x"], "x" * 600), (["user", "passwd", "none"], PASSWORD),
                        (["user", "remove", "none"], None), (["token", "revoke", "none"], None)):
        done = place.run("keys", *words, text=text)
        assert done.returncode == 1 and done.stderr.count("\n") == 1, (words, done)
    c.stop()


def tire(fail):
    """Wrong passwords, until the wait is long enough for what a test does meanwhile; how many were tried before the first."""
    free = tries = 0
    while True:
        a = fail()
        if a.status == 429:
            free = free or tries
            wait_s = int(a.headers["Retry-After"])
            if wait_s >= 4:
                return free
            time.sleep(wait_s)
        else:
            tries += 1
            assert a.status == 401 and a.headers["Set-Cookie"] is None and tries < 40, a.body


def scenario_throttle(place):
    """Who tries passwords must wait, by the name and by the address; who is not there is not told from who is."""
    for name in ("ann", "bob", "eve"):
        place.user(name)
    c = place.serve()
    b = place.browser(c, source="127.0.0.2")
    assert tire(lambda: b.log_in("ann", "wrong password")) >= 5
    a = b.log_in("ann")
    assert a.status == 429 and int(a.headers["Retry-After"]) >= 1 and "wait" in a.error, a.body
    c.wait_log("a login as ann from 127.0.0.2 failed")
    # The address waits, whoever it says it is; another one need not, for another user.
    assert b.log_in("bob").status == 429
    other = place.browser(c, source="127.0.0.3")
    assert other.log_in("bob").status == 200
    # The user waits, wherever the tries come from.
    sources = (f"127.0.1.{i}" for i in range(1, 255))
    tire(lambda: place.browser(c, source=next(sources)).log_in("eve", "wrong password"))
    assert place.browser(c, source="127.0.0.20").log_in("eve").status == 429
    # Somebody who is not there gets the same words.
    nobody = place.browser(c, source="127.0.0.30").log_in("nobody")
    somebody = place.browser(c, source="127.0.0.31").log_in("bob", "wrong password")
    assert nobody.status == somebody.status == 401 and nobody.body == somebody.body
    # The wait ends, and the right password is right again.
    a = place.browser(c, source="127.0.0.40").log_in("ann")
    for i in range(41, 50):
        if a.status == 200:
            break
        time.sleep(int(a.headers["Retry-After"]))
        a = place.browser(c, source=f"127.0.0.{i}").log_in("ann")
    assert a.status == 200, a.body
    for body in (None, [], {"user": "ann"}, {"user": 1, "password": 2}, {"user": "ann", "password": "x\0"}):
        a = place.browser(c, source="127.0.0.50").post("/api/v1/login", body or {})
        assert a.status in (400, 401, 429), a.body
    # A token is no password, and is not slowed down.
    other.cookie, other.bearer = None, place.token("t")
    assert all(is_in(other) for _ in range(30))
    c.stop()


def fill(place, events):
    """A recording of a device `board`."""
    for words in ([KSK_RANDOM, place.folder / "a.ksk", str(events), "4096"],
                  [FILL_STORE, place.data, "board", place.folder / "a.ksk"]):
        subprocess.run(words, check=True, timeout=WAIT_S, capture_output=True)


def scenario_streams(place):
    """What is long arrives whole over TLS: the same bytes as without."""
    fill(place, 200000)
    token = place.token("t", "control")
    paths = [f"/api/v1/devices/board/export?format={f}" for f in ("ksk", "perfetto", "json")]
    c = place.serve()
    b = place.browser(c)
    b.bearer = token
    secure = [b.get(path) for path in paths]
    assert all(a.status == 200 for a in secure)
    # A body of the largest size goes in; a larger one is refused.
    assert b.post("/api/v1/devices/board/labels", {"labels": {"a": "b" * 60000}}).status in (200, 400)
    assert b.post("/api/v1/devices/board/labels", {"x": "b" * 70000}).status == 413
    b.close()
    c.stop()
    c = place.serve("--plain-http")
    for path, a in zip(paths, secure):
        plain = subprocess.run(["curl", "-sf", f"http://127.0.0.1:{c.http_port}{path}"],
                               capture_output=True, timeout=WAIT_S, check=True).stdout
        assert len(plain) > 1 << 20 and plain == a.body, (path, len(plain), len(a.body))
    c.stop()


def scenario_client(place):
    """The program kiseki at a collector with keys: token and authority, and one line for each thing that is wrong."""
    fill(place, 1000)
    c = place.serve()
    token, control = place.token("t"), place.token("c", "control")
    server = f"https://127.0.0.1:{c.http_port}"
    home = place.folder / "home"
    own = home / ".config/kiseki"
    own.mkdir(parents=True)
    other = place.folder / "other"
    subprocess.run([KISEKI, "keys", "init", "--dir", other], check=True, timeout=WAIT_S,
                   capture_output=True)
    right = {"KISEKI_CA": place.keys / "ca.pem", "KISEKI_TOKEN": token}

    def ask(*words, url=server, **variables):
        env = {k: v for k, v in os.environ.items() if not k.startswith(("KISEKI_", "XDG_"))}
        return subprocess.run([KISEKI, *words, "--server", url], capture_output=True, text=True,
                              timeout=WAIT_S, check=False, env={**env, "HOME": home, **variables})

    def fails(done, *words):
        assert done.returncode in (1, 2) and done.stderr.count("\n") == 1, done
        assert all(w in done.stderr for w in words) and token not in done.stderr, done

    assert ask("devices", "--json", **right).returncode == 0
    fails(ask("label", "board", "a=b", **right), "needs the role control")
    assert ask("label", "board", "a=b", **{**right, "KISEKI_TOKEN": control}).returncode == 0
    fails(ask("devices", **{**right, "KISEKI_CA": other / "ca.pem"}), "cannot trust", "KISEKI_CA")
    fails(ask("devices", KISEKI_TOKEN=token), "cannot trust", "KISEKI_CA")
    fails(ask("devices", KISEKI_CA=place.keys / "ca.pem"), "KISEKI_TOKEN", "keys token add")
    fails(ask("devices", **{**right, "KISEKI_TOKEN": "kst_" + "0" * 64}), "not known here")
    fails(ask("devices", **{**right, "KISEKI_CA": place.folder / "none"}), "KISEKI_CA")
    fails(ask("devices", url=server.replace("https", "http"), **right), "https://")
    # By files, which are for their owner alone.
    shutil.copy(place.keys / "ca.pem", own / "ca.pem")
    (own / "token").write_text(token + "\n")
    (own / "token").chmod(0o644)
    fails(ask("devices"), "chmod 600")
    (own / "token").chmod(0o600)
    assert ask("devices").returncode == 0
    (own / "token").rename(home / "elsewhere")
    assert ask("devices", KISEKI_TOKEN_FILE=home / "elsewhere").returncode == 0
    fails(ask("devices", KISEKI_TOKEN_FILE=home / "none"), "cannot read")
    c.stop()


def type_in(place, name, answers):
    """`kiseki keys user add` on a terminal: what is seen there, and its exit status."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(KISEKI, [KISEKI, "keys", "user", "add", name, "--dir", str(place.keys)])
    seen = b""
    try:
        for answer in answers:
            while not seen.endswith(b": "):
                seen += os.read(fd, 1)
            os.write(fd, answer + b"\n")
            while not seen.endswith(b"\n"):  # only then the terminal is as it was
                seen += os.read(fd, 1)
        while piece := os.read(fd, 4096):
            seen += piece
    except OSError:  # it has ended
        pass
    os.close(fd)
    return seen, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def scenario_terminal(place):
    """A password is asked for twice, and is not shown."""
    word = PASSWORD.encode()
    seen, code = type_in(place, "ann", [word, word])
    assert code == 0 and word not in seen and b"ann may view" in seen, (seen, code)
    seen, code = type_in(place, "bob", [word, word + b"x"])
    assert code == 1 and word not in seen and b"these are two" in seen, (seen, code)
    users = json.loads(place.kiseki("keys", "user", "list", "--json"))["users"]
    assert [u["user"] for u in users] == ["ann"]


def expect_private(folder, place):
    """Nothing in the folder is another user's to read: by its mode, and by what the kernel answers to one."""
    paths = [p for p in folder.rglob("*") if p.is_file()]
    assert any(p.suffix == ".sqlite" for p in paths), paths
    open_to_all = [str(p) for p in [folder, *paths] if p.stat().st_mode & 0o007]
    assert not open_to_all, f"other users may touch {open_to_all}"
    if os.geteuid():
        return
    look = 'for p; do cat "$p" >/dev/null 2>&1 && echo "$p"; done; true'
    shown = place.folder / "shown"
    shown.write_text("for all\n")
    shown.chmod(0o644)
    place.folder.chmod(0o755)
    done = subprocess.run(["/bin/sh", "-c", look, "sh", shown, *paths], user=65534, group=65534, extra_groups=[],
                          capture_output=True, text=True, timeout=WAIT_S, check=True)
    assert done.stdout.split() == [str(shown)], done


def scenario_private(place):
    """No other user of the machine sees what a collector keeps, whichever command came first, whatever the umask; and a
    folder that is open is told."""
    for first in ("keys", "serve"):
        data = place.folder / first
        if first == "keys":
            subprocess.run([KISEKI, "keys", "init", "--dir", data / "keys"], check=True, timeout=WAIT_S, capture_output=True)
        c = Collector(data)
        assert c.count_log("may look into") == 0, c.log
        expect_private(data, place)
        c.stop()
    for made in data.glob("facts.sqlite*"):
        made.unlink()
    subprocess.run([KISEKI, "work", "--data", data], check=True, timeout=WAIT_S, capture_output=True)
    assert (data / "facts.sqlite").exists()
    expect_private(data, place)
    data.chmod(0o755)
    c = Collector(data)
    c.wait_log(f"every user of this machine may look into {data}")
    c.stop()


def check(place):
    """What `kiseki check` finds in the databases."""
    done = subprocess.run([KISEKI, "check", place.data, "--json"], capture_output=True, text=True, timeout=WAIT_S, check=False)
    found = {row["file"]: row["what"] for row in json.loads(done.stdout)["damaged_databases"]}
    assert done.returncode == bool(found), done
    return found


def scenario_damage(place):
    """A disk makes admins of those who may look, and tokens last: it is not believed, everybody says so, and `repair` drops it."""
    for name in ("ann", "bob"):
        place.user(name)
    bearer = place.token("nightly")
    place.kiseki("keys", "enroll", "board-7")
    assert place.kiseki("keys", "repair") == "nothing is damaged"
    place.serve().stop()
    assert check(place) == {}
    sealed.damage(place.keys / "people.db", "user", "role = 3 WHERE name = 'ann'")
    sealed.damage(place.keys / "people.db", "token", "role = 3")
    sealed.damage(place.keys / "roster.db", "token", "until = until + 4294967296")
    found = check(place)
    assert found == {"keys/people.db": "1 row of the table user does not fit the checksum",
                     "keys/roster.db": "1 row of the table token does not fit the checksum"}, found
    c = place.serve()
    for name in ("people.db", "roster.db"):
        c.wait_log(f"{name} is damaged: 1 row")
    assert place.browser(c).log_in("bob").status == 200
    b = place.browser(c)
    answer = b.log_in("ann")
    assert answer.status == 500 and "damaged" in answer.error, (answer.status, answer.body)
    assert not is_in(b)
    b.bearer = bearer
    assert not is_in(b)
    for words, key in ((("user", "list"), "role"), (("token", "list"), "state"), (("list",), "state")):
        rows = json.loads(place.kiseki("keys", *words, "--json"))
        assert next(iter(rows.values()))[0][key] == "damaged", rows
    said = place.kiseki("keys", "repair")
    assert said.startswith("1 damaged row of devices dropped") and "\n2 damaged rows of users and tokens dropped" in said, said
    assert place.kiseki("keys", "repair") == "nothing is damaged"
    assert place.browser(c).log_in("ann").status == 401
    place.user("ann")
    assert place.browser(c).log_in("ann").status == 200
    c.stop()
    assert check(place) == {}


def main():
    os.umask(0o022)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        globals()[f"scenario_{SCENARIO}"](Secured(folder))


if __name__ == "__main__":
    main()
