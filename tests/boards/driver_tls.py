#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""driver_tls: the driver of a device that has keys: TLS by the kernel, and every event accounted for.

	driver_tls.py BOARD [SCENARIO...]

The collector has keys. An agent on the board enrolls, makes connections and hands them to the driver;
between them and the collector is a relay that keeps every byte. The scenarios are those of
driver_accounting.py, where the collector dies, the connection is cut, the buffer is full, the module is
unloaded; and others: the device is revoked, the certificate ends, a driver that has not been handed
anything speaks, the peer sends what it should not. Then every event is in the store once or counted as lost, and on the wire there was
nothing but records of TLS.
"""
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

import driver_accounting as accounting
from board_test import KISEKI, SRC, WORK, Failed, build, build_driver, build_tool, expect, main, wait_for
from boards.catalog import get_board
from boards.collector import HOST
from boards.machine import Machine
from driver_accounting import FILES, Scenario, System

sys.path.insert(0, str(SRC / "tests/tools"))
import protocol as p  # noqa: E402
from link import Link  # noqa: E402

HANDSHAKE, CHANGE, ALERT, DATA = 22, 20, 21, 23  # types of records
RECORD_HEAD, RECORD_MOST = 5, 16384 + 256
STATE = "/tmp/state"


class Listener(Link):
    """A link that keeps what it carries: the bytes of each connection, in each direction."""

    def __init__(self, collector):
        self.kept = {}
        super().__init__(collector.port)

    def note(self, a, b, data):
        with self.lock:
            if (a, b) not in self.kept:
                self.kept[a, b] = ((a, b) in self.pairs, bytearray())
            self.kept[a, b][1].extend(data)

    def heard(self, is_up):
        with self.lock:
            return [bytes(kept) for up, kept in self.kept.values() if up == is_up]


def split_records(stream):
    """[(type, length)] of a connection's one direction, which may have been cut anywhere."""
    records, at = [], 0
    while at + RECORD_HEAD <= len(stream):
        kind, length = stream[at], int.from_bytes(stream[at + 3:at + 5], "big")
        if kind not in (HANDSHAKE, CHANGE, ALERT, DATA) or stream[at + 1] != 3 or length > RECORD_MOST:
            raise Failed(f"no record of TLS after {len(records)} of them: {stream[at:at + 40]!r}")
        records.append((kind, length))
        at += RECORD_HEAD + length
    return records


def check_wire(relay, words):
    """Nothing but TLS, and of it much more data than what the device says of itself."""
    records = [r for is_up in (True, False) for s in relay.heard(is_up) for r in split_records(s)]
    carried = sum(length for kind, length in records if kind == DATA)
    for stream in relay.heard(True) + relay.heard(False):
        for word in words:
            if word.encode() in stream:
                raise Failed(f"'{word}' was on the wire in the clear")
    if carried < 2000:
        raise Failed(f"only {carried} bytes of data were on the wire")
    print(f"  on the wire: {len(records)} records of TLS, {carried} bytes in them", flush=True)


class SecureSystem(System):
    """A board whose driver has keys, and a collector that has."""
    module = "/kiseki.ko"

    def __init__(self, machine, work, scenario):
        subprocess.run([KISEKI, "keys", "init", "--dir", work / "store/keys"], check=True,
                       stdout=subprocess.DEVNULL)
        super().__init__(machine, work, scenario)
        self.relay.close()
        self.relay = Listener(self.collector)
        self.machine.check(f"rm -rf {STATE}; mkdir {STATE}")

    def keys(self, *words):
        return subprocess.run([KISEKI, "keys", *words, "--dir", self.work / "store/keys"], check=True,
                              stdout=subprocess.PIPE, text=True).stdout.strip()

    def enroll(self, *options):
        secret = self.keys("enroll", self.name, *options)
        self.machine.check(f"echo {secret} | kiseki-agent enroll --config /dev/null -c "
                           f"{HOST}:{self.relay.port} -n {self.name} --state-dir {STATE}")

    def start_agent(self):
        self.machine.check(
            f"kiseki-agent --config /dev/null -c {HOST}:{self.relay.port} -n {self.name} "
            f"--state-dir {STATE} --source driver >>/tmp/agent.log 2>&1 & echo $! >/tmp/agent.pid")

    def stop_agent(self, how="TERM"):
        self.machine.call(f"[ -f /tmp/agent.pid ] && kill -{how} $(cat /tmp/agent.pid); rm -f /tmp/agent.pid")

    def load(self):
        """As without keys; but somebody has to make the connection."""
        self.machine.check(f"insmod {self.module} {self.scenario.parameters}")
        if self.machine.call(f"[ -f {STATE}/keys/device.pem ]").code:
            self.enroll(*getattr(self.scenario, "enroll_options", ()))
        self.start_agent()
        wait_for("the device", lambda: (d := self.device()) and d["online"])

    def unload(self):
        self.machine.check("rmmod kiseki", 30)
        wait_for("the agent to see that the driver is gone",
                 lambda: self.machine.call("kill -0 $(cat /tmp/agent.pid)").code)

    def link(self):
        return self.machine.call(f"cat {FILES}/link").text.strip()

    def close(self):
        self.stop_agent("KILL")
        super().close()


class Secure:
    """Mixed into a scenario of driver_accounting.py."""

    def check(self, system, account, generated):
        super().check(system, account, generated)
        uname = system.machine.check("uname -r").strip()
        check_wire(system.relay, (system.name, uname, accounting.PREFIX + "0-"))


class Plain(Secure, accounting.Plain):
    """Nothing happens."""


class NoChaCha(Plain):
    """The kernel lacks the cipher that a device without instructions for AES asks for first: AES it is."""
    word = "no-chacha"

    def play(self, system):
        machine, module = system.machine, "chacha20poly1305"
        is_module = machine.call(f"[ -f /lib/modules/{module}.ko ]").code == 0  # else it was never there
        if is_module:
            machine.check(f"rmmod {module}")
        super().play(system)
        if is_module:
            machine.check(f"insmod /lib/modules/{module}.ko")
        asked = machine.call("grep -q 'no ChaCha20-Poly1305' /tmp/agent.log").code == 0
        has_aes = machine.call("grep -qw aes /proc/cpuinfo").code == 0
        expect("that it asked for the other cipher first", asked, not has_aes)


class Kills(Secure, accounting.Kills):
    """The collector dies at any moment, and the agent makes the next connection."""


class Cuts(Secure, accounting.Cuts):
    """Connections are reset, the cable is pulled, the interface goes down."""


class SmallBuffer(Secure, accounting.SmallBuffer):
    """Nothing gets through for longer than the buffer lasts."""


class Unload(accounting.Unload):
    """The module goes while events come on a connection that is alive."""


class NoAgent(Secure, Scenario):
    """The agent is killed: nothing changes until the connection breaks; then events wait for the next one."""
    word = "no-agent"

    def disturb(self, system):
        time.sleep(0.5)
        system.stop_agent("KILL")
        time.sleep(0.5)
        expect("the link without an agent", system.link().split()[0], "up")
        system.relay.reset()
        wait_for("the driver to see the end", lambda: system.link().startswith("down"))
        time.sleep(0.5)
        system.start_agent()
        wait_for("the next agent's connection", lambda: system.link().startswith("up"))
        time.sleep(0.5)


class Renewal(Secure, Scenario):
    """Certificates of a few seconds, and a board whose clock is wrong: by the collector's clock the agent gets
    the next ones, and hands over new connections."""
    word = "renewal"

    def play(self, system):
        # The last third of it is for the next one, and a kernel that watches itself takes half a minute to connect.
        self.enroll_options = ("--valid", "180s" if system.machine.board.patience > 1 else "45s")
        system.machine.check("date -s @1000000000")
        super().play(system)
        system.machine.check(f"date -s @{int(time.time())}")

    def serial(self, system):
        return system.keys("list", "--json").partition('"serial"')[2][:60]

    def disturb(self, system):
        for _ in range(2):
            before, sessions = self.serial(system), system.statistics()["connections"]
            wait_for("the next certificate", lambda: self.serial(system) != before)
            wait_for("a connection with it", lambda: system.statistics()["connections"] > sessions)
        if "has ended" in system.collector.log.read_text():
            print("  a certificate ended before there was another: this machine is slow", flush=True)


class OldKey(Secure, Scenario):
    """A driver whose keys are old after a few kilobytes, not after 256 GiB: the agent makes one connection after
    the other, and nothing is missing."""
    word = "old-key"

    def play(self, system):
        system.module = "/few.ko"
        super().play(system)

    def disturb(self, system):
        wait_for("the third connection", lambda: system.statistics()["connections"] >= 3)
        log = system.machine.check("dmesg")
        if "EKEYEXPIRED" not in log and ": -127" not in log:  # a kernel need not know names of errors
            raise Failed("a connection ended, and not because of its key")


class Revoked(Secure, Scenario):
    """The device is revoked: out at once, and refused; with a new token the run goes on, and is whole."""
    word = "revoked"
    rate = 300

    def disturb(self, system):
        time.sleep(0.5)
        system.keys("revoke", system.name)
        start = time.monotonic()
        wait_for("the driver to be out", lambda: not system.link().startswith("up"))
        print(f"  the driver's link was down {time.monotonic() - start:.2f} s after it", flush=True)
        had = system.device()["received"]
        wait_for("the reason", lambda: "revoked" in system.link())
        time.sleep(2)
        expect("what was taken of a revoked device", system.device()["received"], had)
        system.enroll()
        wait_for("the device to be back", lambda: system.link().startswith("up"))


class Refused(Scenario):
    """A driver in the clear is refused, and seen by who listens; with keys it is not let speak so again."""
    word = "refused"

    def play(self, system):
        machine = system.machine
        machine.check(f"insmod /kiseki.ko collector={HOST}:{system.relay.port} name={system.name}")
        wait_for("the refusal", lambda: "keys" in system.link())
        if not any(system.name.encode() in s for s in system.relay.heard(True)):
            raise Failed("a plain HELLO was not heard: whoever listens hears nothing at all")
        system.enroll()
        plain = len(system.relay.heard(True))
        system.start_agent()
        wait_for("the secure connection", lambda: system.link().startswith("up"))
        expect("the driver's own collector", machine.check(f"cat {FILES}/collector").strip(), "")
        system.relay.reset()
        wait_for("the next one", lambda: (d := system.device()) and d["online"] and
                 system.statistics()["connections"] >= 2)
        for stream in system.relay.heard(True)[plain + 1:]:
            split_records(stream)
        system.unload()


class Early(Secure, Scenario):
    """The driver records from the moment on which it is loaded; the agent comes, and makes it who it is."""
    word = "early"

    def play(self, system):
        system.machine.check(f"insmod /kiseki.ko start=1 events=rename comms={accounting.PREFIX}*")
        system.generate()
        time.sleep(1)
        system.enroll()
        system.start_agent()
        wait_for("the connection", lambda: system.link().startswith("up"))
        time.sleep(1)
        generated = system.stop_generator()
        system.finish()
        account, = system.export()
        missing = account.check(generated)
        if missing or account.lost:
            raise Failed(f"{missing} events are not accounted for, {dict(account.lost)} were lost")
        system.unload()


WELCOME = p.frame(p.WELCOME, p.varints(1, 5, 1, 4 << 20, 0))
TICKET = f"{HANDSHAKE}:04" + "00" * 40
KEY_UPDATE = f"{HANDSHAKE}:1800000101"


def data(content):
    return f"{DATA}:{content.hex()}"


class Hostile(Scenario):
    """A collector that has the keys and sends what it should not, or what is no record: the driver stays."""
    word = "hostile"
    CASES = {  # the records, and what `link` begins with then
        "a ticket": ([TICKET, data(WELCOME)], "up 5"),
        "two tickets, a frame in three records": (
            [TICKET, TICKET, *(data(WELCOME[i:i + 3]) for i in range(0, len(WELCOME), 3))], "up 5"),
        "tickets without end": ([TICKET] * 40, "down TLS asks"),
        "a new key": ([data(WELCOME), KEY_UPDATE], "down TLS asks"),
        "a new key at once": ([KEY_UPDATE, data(WELCOME)], "down TLS asks"),
        "a hello that comes again": ([f"{HANDSHAKE}:01" + "00" * 200], "down TLS asks"),
        "the end": ([data(WELCOME), f"{ALERT}:0100"], "down the collector closed"),
        "a fatal alert": ([data(WELCOME), f"{ALERT}:0228"], "down TLS asks"),
        "half an alert": ([data(WELCOME), f"{ALERT}:01"], "down TLS asks"),
        "a long alert": ([f"{ALERT}:" + "0100" * 500], "down TLS asks"),
        "another type": ([f"{CHANGE}:01"], "down TLS asks"),
        "a type that is none": ([f"99:{'aa' * 3000}"], "down TLS asks"),
        "noise in records": ([data(random.Random(1).randbytes(2000))], "down"),
        "noise that is no record": ([f"0:{random.Random(2).randbytes(2000).hex()}"], "down"),
        "a record that no key has made": ([f"0:1703030100{'5a' * 256}"], "down"),
        "a record beyond all bounds": ([f"0:170303ffff{'5a' * 2000}"], "down"),
        "a plain frame": ([f"0:{WELCOME.hex()}{'00' * 64}"], "down"),
    }

    def play_case(self, machine, number, records):
        """Its `link`, when it has said what it thinks."""
        port = 5000 + number
        machine.check(f"hand_socket answer {port} {' '.join(records)} >/tmp/answer.{number} 2>&1 &")
        wait_for("the peer", lambda: "ready" in machine.call(f"cat /tmp/answer.{number}").text)
        machine.check(f"hand_socket tls 127.0.0.1 {port} {FILES}/socket")

    def play(self, system):
        machine = system.machine
        machine.check("insmod /kiseki.ko start=1")
        for number, (what, (records, wanted)) in enumerate(self.CASES.items()):
            self.play_case(machine, number, records)
            try:
                wait_for(f'"{wanted}" after {what}', lambda: system.link().startswith(wanted))
            except Failed as e:
                raise Failed(f"{e}, and it is {system.link()}") from e
        self.play_case(machine, 99, [data(WELCOME)])
        wait_for("a last connection", lambda: system.link().startswith("up"))
        machine.check("rmmod kiseki", 30)


SCENARIOS = {s.word: s for s in (NoChaCha, Plain, Kills, Cuts, SmallBuffer, NoAgent, Early, Renewal, OldKey,
                                 Revoked, Refused, Hostile, Unload)}


def test(arguments):
    board = get_board(arguments.board)
    with mock.patch.dict(os.environ, KCFLAGS="-DLINK_KEY_BYTES_MAX=40000"):
        few = build.build_module(board, WORK / board.name / "few")
    files = [(build_driver(board), "/kiseki.ko"), (few, "/few.ko"), *build.build_tls_agent(board),
             (build_tool(board, "tests/tools/rename_generator.c"), "/rename_generator"),
             (build_tool(board, "tests/tools/hand_socket.c"), "/bin/hand_socket")]
    accounting.System, accounting.SCENARIOS = SecureSystem, SCENARIOS
    modules = () if board.source else build.TLS_MODULES[board.kbuild]  # `debug` has TLS in its kernel
    with Machine(board, files, modules, timeout_s=1800) as machine:
        for name in arguments.scenarios or SCENARIOS:
            print(f"{name}: {SCENARIOS[name].__doc__}", flush=True)
            with tempfile.TemporaryDirectory() as work:
                try:
                    accounting.play(name, machine, Path(work))
                except Failed as e:
                    said = machine.call("tail -n 20 /tmp/agent.log").text
                    raise Failed(f"{e}\nagent: {said}") from e
    print(f"{board.name}: with keys, too, every event is stored or in the ledger")


def add_options(parser):
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", choices=[[], *SCENARIOS])


if __name__ == "__main__":
    sys.exit(main(test, __doc__, add_options))
