#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""keys: a real collector with keys, real agents that enroll, and devices that lie.

	keys.py KISEKI AGENT SCENARIO [CLOCK]

The fake device (tests/tools/fake_device.py) speaks TLS by Python's own library, with the keys that an
agent got: where the two understand each other, no detail of GnuTLS is needed. CLOCK is the library of tests/fault/clock.c.
"""
import json
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))
import fake_device as fd  # noqa: E402
from protocol import frame, text, varint  # noqa: E402
from served import KISEKI, WAIT_S, Collector, ident, stored, token  # noqa: E402

AGENT, SCENARIO = sys.argv[2], sys.argv[3]
ENROLL = 32
REFUSED = 5


class Place:
    """A folder with a collector's data and keys, and state folders of devices."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.data = self.folder / "data"
        self.data.mkdir(exist_ok=True)
        self.kiseki("keys", "init")

    def kiseki(self, *words, ok=True, folder=None):
        done = subprocess.run([KISEKI, *words, "--dir", folder or self.data / "keys"], text=True,
                              capture_output=True, timeout=WAIT_S, check=False)
        assert (done.returncode == 0) == ok, (words, done)
        return done.stdout.strip() if ok else done.stderr.strip()

    def token(self, name, *options):
        return self.kiseki("keys", "enroll", name, *options)

    def rows(self):
        listed = json.loads(self.kiseki("keys", "list", "--json"))
        return {row["device"]: row for row in listed["devices"]}

    def state(self, name, number=None):
        """The state folder of a device; its identity is `number`."""
        state = self.folder / name
        state.mkdir(exist_ok=True)
        if number is not None:
            (state / "device-id").write_text(ident(number).hex() + "\n")
        return state

    def enroll(self, port, secret, name, number=None, ok=True):
        done = subprocess.run(
            [AGENT, "enroll", "--config", "/dev/null", "-c", f"127.0.0.1:{port}", "--state-dir",
             self.state(name, number)], input=secret + "\n", text=True, capture_output=True,
            timeout=WAIT_S, check=False)
        assert (done.returncode == 0) == ok, done
        return done.stderr

    def context(self, name, certificate=True):
        keys = self.folder / name / "keys"
        c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        c.minimum_version = ssl.TLSVersion.TLSv1_3
        c.check_hostname = False
        c.load_verify_locations(keys / "ca.pem")
        if certificate:
            c.load_cert_chain(keys / "device.pem")
        return c


class Secure(fd.Device):
    """A fake device over TLS."""

    def __init__(self, port, number, context, **options):
        super().__init__(port, ident(number), **options)
        self.socket = context.wrap_socket(self.socket)


def refused(device):
    """What it hears in place of a WELCOME."""
    try:
        device.come_in()
    except fd.Closed as e:
        assert e.bye and e.bye[0] == REFUSED, e.bye
        return e.bye[1]
    raise AssertionError("it was let in")


def send_one(device, number):
    run = ident(1000 + number)
    device.run(run)
    device.block(1, 0, before=0, events=10, payload=token(number, 0))
    device.wait_acknowledged()


def start_agent(place, collector, name):
    out = open(place.folder / f"{name}.log", "w")
    return subprocess.Popen(
        [AGENT, "--config", "/dev/null", "-c", f"127.0.0.1:{collector.port}", "--state-dir",
         place.folder / name, "--spool-file", place.folder / f"{name}.spool", "--func-socket",
         "none", "--nice", "0"], stdout=out, stderr=subprocess.STDOUT)


def wait_until(what, condition):
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def scenario_enroll(place):
    """A device gets in with its token, once; its name and identity are those it was given."""
    c = Collector(place.data)
    secret = place.token("board-1")
    assert place.rows()["board-1"]["state"] == "token waits"
    place.enroll(c.port, secret, "a", 1)
    assert place.rows()["board-1"]["state"] == "holds"
    for path in (place.folder / "a/keys").iterdir():
        assert path.stat().st_mode & 0o777 == 0o600, path
    for path in (place.data / "keys").iterdir():
        assert path.stat().st_mode & 0o777 == 0o600, path
    assert (place.data / "keys").stat().st_mode & 0o777 == 0o700
    assert secret not in (place.data / "keys/roster.db").read_bytes().decode("latin-1")

    device = Secure(c.port, 1, place.context("a"), name="another-name")
    device.come_in()
    send_one(device, 1)
    c.wait_log(r"board-1 \(session .*connected")
    assert not c.count_log("another-name")

    # The token again, by somebody else; he is told, and it is logged.
    assert "was used from 127.0.0.1" in place.enroll(c.port, secret, "thief", 2, ok=False)
    c.wait_log("refused: its token, for board-1, was used from 127.0.0.1")
    assert not (place.folder / "thief/keys/device.pem").exists()
    # Too old; not known; no token; the identity of another device.
    secret = place.token("board-2", "--wait", "1s")
    time.sleep(2.1)
    assert "too old" in place.enroll(c.port, secret, "b", 2, ok=False)
    secret = place.token("board-2")
    assert "identity is that of board-1" in place.enroll(c.port, secret, "b", 1, ok=False)
    place.enroll(c.port, secret, "b", 2)  # a refusal does not use it up
    place.kiseki("keys", "revoke", "board-2")
    place.token("board-3")
    gone = place.token("board-3")
    place.kiseki("keys", "revoke", "board-3")
    assert "not known" in place.enroll(c.port, gone, "c", 3, ok=False)
    assert "there is no token" in place.enroll(c.port, "ks1-nonsense", "c", 3, ok=False)

    # Enrolled anew, the name's certificate of before is out.
    place.enroll(c.port, place.token("board-1"), "a2", 1)
    assert "revoked" in device.wait_bye()[1]
    device.close()
    c.stop()
    assert stored(place.data) == {token(1, 0): 1}


def scenario_liars(place):
    """Nothing that has no certificate of its own changes anything, and the others go on."""
    c = Collector(place.data)
    place.enroll(c.port, place.token("good"), "good", 1)
    place.enroll(c.port, place.token("bad"), "bad", 2)
    good = Secure(c.port, 1, place.context("good"))
    good.come_in()

    plain = fd.Device(c.port, ident(1))
    assert "have keys" in refused(plain)
    assert "another device" in refused(Secure(c.port, 1, place.context("bad")))
    assert "no certificate" in refused(Secure(c.port, 1, place.context("good", False)))
    # A certificate of nobody: one that the device made by itself.
    own = place.folder / "own.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-keyout", own, "-out",
                    place.folder / "own.crt", "-days", "1", "-subj", "/CN=good"], check=True,
                   capture_output=True)
    context = place.context("good", False)
    context.load_cert_chain(place.folder / "own.crt", own)
    assert "not good" in refused(Secure(c.port, 1, context))
    # A renewal without a certificate, and in the clear; a request that is none.
    request = varint(1) + text(b"") + text(ident(1)) + text(b"no request")
    for device in (Secure(c.port, 1, place.context("good", False)), fd.Device(c.port, ident(1))):
        device.send(frame(ENROLL, request))
        assert device.wait_bye()[0] == REFUSED
    bad = Secure(c.port, 2, place.context("bad"))
    bad.send(frame(ENROLL, varint(1) + text(b"") + text(ident(1)) + text(b"no request")))
    assert "another device" in bad.wait_bye()[1]
    # Bytes that begin like TLS, and a TLS that is too old.
    for data in (b"\x16\x03\x01\x00\x05hello", b"\x16" * 70000, b"GET / HTTP/1.1\r\n\r\n", b"\0"):
        with socket.create_connection(("127.0.0.1", c.port), timeout=WAIT_S) as s:
            s.sendall(data)
            try:
                while s.recv(65536):
                    pass
            except ConnectionError:
                pass
    old = place.context("good")
    old.minimum_version = ssl.TLSVersion.TLSv1_2
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    try:
        Secure(c.port, 1, old)
        raise AssertionError("TLS 1.2 was taken")
    except ssl.SSLError:
        pass
    # One that stops in the middle of its handshake is not waited for.
    slow = socket.create_connection(("127.0.0.1", c.port), timeout=WAIT_S)
    slow.sendall(b"\x16\x03\x01\x02\x00\x01")
    while slow.recv(4096):
        pass
    send_one(good, 1)
    good.close()
    c.stop()
    assert stored(place.data) == {token(1, 0): 1}


def scenario_collectors(place):
    """A device speaks to no collector but its own; not to another device that plays one, either."""
    other = Place(tempfile.mkdtemp(dir=place.folder))
    c, d = Collector(place.data), Collector(other.data)
    secret = place.token("board")
    assert "of another one" in place.enroll(d.port, secret, "board", 1, ok=False)
    place.enroll(c.port, secret, "board", 1)  # it was not said to the wrong one
    place.enroll(c.port, place.token("fake"), "fake", 2)
    done = subprocess.run([AGENT, "enroll", "--renew", "--config", "/dev/null", "-c",
                           f"127.0.0.1:{d.port}", "--state-dir", place.folder / "board"],
                          capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert done.returncode == 1 and "another authority" in done.stderr, done

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(place.folder / "fake/keys/device.pem")
    listener = socket.create_server(("127.0.0.1", 0))
    heard = []

    def play():
        s, _ = listener.accept()
        try:
            with context.wrap_socket(s, server_side=True) as t:
                heard.append(t.recv(100))
        except OSError:
            pass

    player = threading.Thread(target=play)
    player.start()
    done = subprocess.run([AGENT, "enroll", "--renew", "--config", "/dev/null", "-c",
                           f"127.0.0.1:{listener.getsockname()[1]}", "--state-dir",
                           place.folder / "board"], capture_output=True, text=True,
                          timeout=WAIT_S, check=False)
    player.join()
    assert done.returncode == 1 and "cannot trust the collector" in done.stderr, done
    assert heard in ([], [b""]), heard
    c.stop()
    d.stop()


def scenario_revoke(place):
    """A device that is revoked is out, and comes in no more; one whose certificate ended, likewise."""
    c = Collector(place.data)
    place.enroll(c.port, place.token("board"), "board", 1)
    place.enroll(c.port, place.token("short", "--valid", "4s"), "short", 2)
    device = Secure(c.port, 1, place.context("board"))
    device.come_in()
    short = Secure(c.port, 2, place.context("short"))
    short.come_in()
    begin = time.monotonic()
    place.kiseki("keys", "revoke", "board")
    assert device.wait_bye() == (REFUSED, "its certificate was revoked")
    print(f"revoked and out after {(time.monotonic() - begin) * 1000:.0f} ms, the command included")
    assert "revoked" in refused(Secure(c.port, 1, place.context("board")))
    assert "has ended" in short.wait_bye()[1]
    assert "has ended" in refused(Secure(c.port, 2, place.context("short")))
    assert place.rows()["short"]["state"] == "ended"
    # It can come back, and what was said about it outlives the collector.
    c.stop()
    c.again()
    assert "revoked" in refused(Secure(c.port, 1, place.context("board")))
    place.enroll(c.port, place.token("board"), "board", 1)
    Secure(c.port, 1, place.context("board")).come_in()
    c.stop()


def scenario_rotate(place):
    """A new authority while devices are there: who trusts the old one goes on, and learns of the new."""
    c = Collector(place.data)
    place.enroll(c.port, place.token("board", "--valid", "20s"), "board", 1)
    before = place.context("board")
    stays = Secure(c.port, 1, before)
    stays.come_in()
    place.kiseki("keys", "rotate")
    stale = place.token("late")
    # The collector takes it up by itself: a token of the new authority is good after a moment.
    wait_until("the new authority", lambda: not subprocess.run(
        [AGENT, "enroll", "--config", "/dev/null", "-c", f"127.0.0.1:{c.port}", "--state-dir",
         place.state("late", 2)], input=stale, text=True, capture_output=True,
        check=False).returncode)
    stays.close()
    again = Secure(c.port, 1, before)  # it knows the old authority, and has its certificate
    again.come_in()
    send_one(again, 1)
    again.close()
    wait_until("an old certificate", lambda: subprocess.run(
        [AGENT, "enroll", "--renew", "--config", "/dev/null", "-c", f"127.0.0.1:{c.port}",
         "--state-dir", place.folder / "board"], capture_output=True, check=False).returncode == 0)
    assert (place.folder / "board/keys/ca.pem").read_text().count("BEGIN CERTIFICATE") == 2
    after = place.context("board")
    place.kiseki("keys", "rotate", "--collector")
    for context in (before, after):
        Secure(c.port, 1, context).come_in()
    c.stop()


def scenario_renew(place):
    """An agent renews its certificate by itself, before its end, and is there afterwards."""
    c = Collector(place.data)
    place.enroll(c.port, place.token("board", "--valid", "9s"), "board", 1)
    agent = start_agent(place, c, "board")
    first = place.rows()["board"]["serial"]
    wait_until("a new certificate", lambda: place.rows()["board"]["serial"] != first)
    second = place.rows()["board"]["serial"]
    wait_until("the next", lambda: place.rows()["board"]["serial"] != second)
    c.wait_log(r"board \(session")
    assert not c.count_log("has ended"), c.log
    assert agent.poll() is None
    agent.terminate()
    assert agent.wait(WAIT_S) == 0
    c.stop()


def scenario_ahead(place):
    """A device that was enrolled while all clocks were ahead is let in when they are set, and gets a certificate of now."""
    clock = place.folder / "clock"
    clock.write_bytes((100 * 86400 * 10**9).to_bytes(8, sys.byteorder))
    os.environ.update(LD_PRELOAD=sys.argv[4], KISEKI_CLOCK=str(clock))
    c = Collector(place.data)
    place.enroll(c.port, place.token("board"), "board", 1)
    first = place.rows()["board"]
    with clock.open("r+b") as file:
        file.write(bytes(8))
    agent = start_agent(place, c, "board")
    wait_until("a new certificate", lambda: place.rows()["board"]["serial"] != first["serial"])
    wait_until("its next connection", lambda: c.count_log(r"board \(session") > 1)
    second = place.rows()["board"]
    assert second["until"] < first["made"], (first, second)
    agent.terminate()
    assert agent.wait(WAIT_S) == 0
    said = (place.folder / "board.log").read_text()
    assert said.count("was ahead") == 1, said
    assert not c.count_log("is not good"), c.log
    c.stop()


def scenario_plain(place):
    """With --plain-loopback a recorder of the same machine needs no keys; without keys nobody does."""
    c = Collector(place.data, "--plain-loopback")
    place.enroll(c.port, place.token("board"), "board", 1)
    device = Secure(c.port, 1, place.context("board"))
    device.come_in()
    local = fd.Device(c.port, ident(2))
    local.come_in()
    send_one(local, 2)
    send_one(device, 1)
    c.stop()
    assert stored(place.data) == {token(1, 0): 1, token(2, 0): 1}
    # A device with keys does not speak to a collector without.
    shutil.move(place.data / "keys", place.folder / "away")
    c = Collector(place.data)
    done = subprocess.run([AGENT, "enroll", "--renew", "--config", "/dev/null", "-c",
                           f"127.0.0.1:{c.port}", "--state-dir", place.folder / "board"],
                          capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert done.returncode == 1 and "cannot secure" in done.stderr, done
    c.stop()
    # Keys that are named must be there; with keys it listens anywhere.
    refusals = ([["--keys", place.folder / "none"], "cannot find keys"],
                [["--listen", "0.0.0.0:0"], "only loopback is safe without keys"],
                [["--keys", place.folder / "away", "--plain-http", "--http", "0.0.0.0:0"], "only loopback"])
    for words, why in refusals:
        done = subprocess.run([KISEKI, "serve", "--config", "/dev/null", "--data", place.data,
                               "--http", "127.0.0.1:0", *words], capture_output=True, text=True,
                              timeout=WAIT_S, check=False)
        assert done.returncode == 1 and why in done.stderr, done
    Collector(place.data, "--keys", place.folder / "away", "--listen", "0.0.0.0:0").stop()


def secrets_of(place, name, used):
    """What nobody may find: lines of the keys as they lie in files, and the token."""
    found = [used]
    for path in (place.data / "keys/authority.pem", place.data / "keys/collector.pem",
                 place.folder / name / "keys/device.pem"):
        body = re.search(r"BEGIN [A-Z ]*PRIVATE KEY-----\n(.*?)-----END", path.read_text(), re.S).group(1)
        found += [line for line in body.split() if len(line) > 30]
    assert len(found) > 4, found
    return [secret.encode() for secret in found]


def abort(process):
    """It crashes where core files are wanted; whether it left one."""
    process.send_signal(signal.SIGABRT)
    _, status = os.waitpid(process.pid, 0)
    process.returncode = -os.WTERMSIG(status)
    place = Path("/proc/sys/kernel/core_pattern").read_text().strip().replace("%p", str(process.pid))
    if place.startswith("/") and "%" not in place:
        Path(place).unlink(missing_ok=True)
    return os.WCOREDUMP(status)


def check_owner(place):
    """Keys that root makes in a folder of another user are that user's, or his collector could not read them."""
    around = place.folder / "theirs"
    around.mkdir()
    shutil.chown(around, "nobody")
    subprocess.run([KISEKI, "keys", "init", "--dir", around / "keys"], check=True, stdout=subprocess.DEVNULL)
    owners = {path.name: path.owner() for path in [around / "keys", *(around / "keys").iterdir()]}
    assert len(owners) > 3 and set(owners.values()) == {"nobody"}, owners


def others_look(place):
    """A collector of an ordinary user: another process of that user cannot look into it."""
    os.chmod(place.folder, 0o755)
    for path in [place.data, *place.data.rglob("*")]:
        shutil.chown(path, "nobody")
    ready, told = os.pipe()
    server = subprocess.Popen(["runuser", "-u", "nobody", "--", KISEKI, "serve", "--listen", "127.0.0.1:0",
                               "--http", "127.0.0.1:0", "--data", place.data / "other", "--keys",
                               place.data / "keys", "--config", "/dev/null"], stdout=told,
                              stderr=subprocess.DEVNULL)
    os.close(told)
    with os.fdopen(ready) as lines:
        assert any(line == "ready\n" for line in lines)
        pid = int(Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text())
        for name in ("mem", "environ", "maps"):
            look = subprocess.run(["runuser", "-u", "nobody", "--", "head", "-c", "1", f"/proc/{pid}/{name}"],
                                  capture_output=True, text=True, check=False)
            assert look.returncode and "Permission denied" in look.stderr, (name, look)
        os.kill(pid, signal.SIGTERM)
        server.wait(WAIT_S)


def scenario_secrets(place):
    """No key and no token in arguments, logs and core files; nor for others of the same user."""
    resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))
    # Whether this machine makes core files at all: else their absence tells nothing.
    makes_cores = abort(subprocess.Popen(["sleep", "100"], cwd=place.folder))
    c = Collector(place.data)
    used = place.token("board-1")
    said = place.enroll(c.port, used, "a", 1)
    agent = start_agent(place, c, "a")
    c.wait_log(r"board-1 \(session .*connected")
    secrets = secrets_of(place, "a", used)
    for pid in (c.process.pid, agent.pid):
        limits = Path(f"/proc/{pid}/limits").read_text()
        assert re.search(r"Max core file size\s+0\s+0 ", limits), limits
        for secret in secrets:
            assert secret not in Path(f"/proc/{pid}/cmdline").read_bytes(), secret
    cores = [abort(agent), abort(c.process)]
    c.finish()
    assert cores == [False, False], cores
    logs = "\n".join(c.log + [said, (place.folder / "a.log").read_text()]).encode()
    assert b"board-1" in logs
    for secret in secrets:
        assert secret not in logs, secret
    if os.geteuid() == 0 and shutil.which("runuser"):
        check_owner(place)
        others_look(place)
    print("no core file" if makes_cores else "no core file; this machine makes none in any case")


def main():
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as folder:
        globals()[f"scenario_{SCENARIO}"](Place(folder))


if __name__ == "__main__":
    main()
