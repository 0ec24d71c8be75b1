# SPDX-License-Identifier: MIT
"""host: this machine as a device by tracefs, simulated devices (bench/fleet), and a collector; links in trouble between them.

The agent records a known number of events of tests/tools/rename_generator.c, and nobody else's: its filter keeps them
out. The simulated devices know what they sent. With keys all of them speak TLS.
"""
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(SOURCE / part) for part in ("tests/system", "tests/tools", "bench/fleet")]

from link import Link  # noqa: E402

RATE, FLOOD = 2000, 12000  # events a second; the second is more than the spool holds when the link is away
FLOOD_EVERY = 4  # laps
DEVICES, DEVICE_RATE = 4, 300  # simulated, and what each makes a second if not said otherwise
AGENT_LINK, DEVICES_LINK = "agent's link", "devices' link"
AGENT_OPTIONS = ["--ring", "16M", "--spool", "64K", "--policy", "keep-oldest"]


def load(build):
    """The test of accounts has the pieces; it takes its programs from the environment."""
    os.environ.update(KISEKI=str(build / "src/cli/kiseki"), AGENT=str(build / "src/device/agent/kiseki-agent"),
                      GENERATOR=str(build / "tests/system/rename_generator"))
    import accounting
    accounting.check_needs()
    return accounting


class Host:
    def __init__(self, build, work, arguments):
        self.accounting, self.build, self.work = load(build), build, work
        self.with_keys, self.device_rate = not arguments.no_keys, arguments.rate or DEVICE_RATE
        self.Failed = self.accounting.Failed
        self.fleet_program = build / "bench/fleet/fleet"
        self.name, self.seen_runs, self.generator, self.fleet = f"soak{os.getpid()}", set(), None, None
        self.make_programs()
        self.make_recordings()

    # --- what there is ---

    def make_programs(self):
        from ports import free_ports
        a, work = self.accounting, self.work
        self.port, self.http = free_ports(2)
        self.links = {AGENT_LINK: Link(self.port), DEVICES_LINK: Link(self.port)}
        self.server = f"http://127.0.0.1:{self.http}"
        self.collector = a.Program("collector", [a.KISEKI, "serve", "--data", work / "store", "--listen", f"127.0.0.1:{self.port}", "--http",
                                                 f"127.0.0.1:{self.http}", "--config", "/dev/null",
                                                 *(["--plain-http"] if self.with_keys else [])], work / "collector.log")
        self.agent = a.Program("agent", [a.AGENT, "--config", "/dev/null", "--collector", f"127.0.0.1:{self.links[AGENT_LINK].port}",
                                         "--name", self.name, "--func-socket", "none", "--state-dir", work / "state", "--spool-file",
                                         work / "spool", "--source", "tracefs", "--events", "rename", "--comm", a.PREFIX + "*",
                                         *AGENT_OPTIONS], work / "agent.log")
        self.programs = {"agent": self.agent, "collector": self.collector}

    def make_recordings(self):
        self.files = [self.work / "sched.ksk", self.work / "profile.ksk"]
        subprocess.run([self.accounting.KISEKI, "convert", SOURCE / "tests/data/small-v6.dat", "-o", self.files[0]], check=True)
        subprocess.run([self.build / "tests/sample_make", SOURCE / "tests/golden/profile/before.profile", self.files[1]], check=True)

    def enroll(self):
        import enroll
        a, programs = self.accounting, (self.accounting.KISEKI, self.accounting.AGENT)
        a.wait_for("the collector", lambda: self.client("devices", "--json").returncode == 0)
        enroll.enroll_device(programs, self.work / "store", self.port, (self.work / "state", os.urandom(16).hex(), self.name))
        enroll.enroll_fleet(programs, self.work / "store", self.port, self.work / "keys",
                            enroll.get_identities(self.fleet_program, ["--devices", str(DEVICES)]))

    # --- what it is asked ---

    def client(self, *words):
        return self.accounting.run(self.accounting.KISEKI, *words, "--server", self.server, check=False, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)

    def device(self):
        answer = self.client("devices", "--json")
        rows = json.loads(answer.stdout)["devices"] if answer.returncode == 0 else []
        return next((d for d in rows if d["name"] == self.name), None)

    def is_in(self, state):
        d = self.device()
        return d and d["online"] and d["state"] == state and d

    def instruct(self, *words):
        answer = self.client(*words)
        if answer.returncode:
            raise self.Failed(f"{' '.join(map(str, words))}: {answer.stderr or answer.stdout}")

    def new_runs(self):
        rows = json.loads(self.client("runs", self.name, "--json").stdout)["runs"]
        return [r for r in rows if r["run"] not in self.seen_runs]

    def pids(self):
        return {name: p.process.pid for name, p in self.programs.items() if p.is_running()}

    # --- its life ---

    def start(self):
        if self.with_keys:
            import enroll
            (self.work / "store").mkdir()
            enroll.make_keys(self.accounting.KISEKI, self.work / "store")
        self.collector.start()
        if self.with_keys:
            self.enroll()
        self.agent.start()

    def begin_lap(self, number):
        a = self.accounting
        a.wait_for("the device", lambda: self.is_in("idle"))
        self.instruct("start", self.name)
        a.wait_for("the device to trace", lambda: self.is_in("tracing"))
        rate = RATE if (number + 1) % FLOOD_EVERY else FLOOD
        self.generator = subprocess.Popen([a.GENERATOR, a.PREFIX, "100000000", str(rate)], stdout=subprocess.PIPE, text=True)
        self.runs_file = self.work / "fleet.runs"
        options = ["--keys", self.work / "keys"] if self.with_keys else []
        self.fleet = subprocess.Popen([self.fleet_program, "--devices", str(DEVICES), "--endless", "--rate", str(self.device_rate), "--cuts", "8",
                                       "--spool", "64", "--patience", str(a.PATIENCE_S), "--runs", self.runs_file, *options,
                                       f"127.0.0.1:{self.links[DEVICES_LINK].port}", *self.files], stdout=subprocess.PIPE, text=True)

    def calm(self):
        """Everybody lives, and all links are well."""
        for link in self.links.values():
            link.clear()
        for program in self.programs.values():
            if program.is_running():
                program.process.send_signal(signal.SIGCONT)
            else:
                program.start()

    def end_lap(self):
        """What was made, stored, and is in the ledger: of the agent, and of the simulated devices."""
        self.calm()
        made, _ = self.finish(self.generator)
        made = {int(c): int(n) for c, n in map(str.split, made.splitlines())}
        text, code = self.finish(self.fleet)
        if code:
            raise self.Failed(f"the devices: exit {code}: {text}")
        return [{"who": "agent", **self.account_agent(made)}, {"who": "devices", **self.account_devices()}]

    def finish(self, process):
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=2 * self.accounting.PATIENCE_S)
        return text, process.returncode

    def account_agent(self, made):
        a = self.accounting
        a.wait_for("the device to be back", lambda: self.is_in("tracing"))
        self.instruct("stop", self.name)
        a.wait_for("the spool to drain", lambda: (d := self.is_in("idle")) and d["status"]["spool_used"] == 0)
        a.wait_for("the run's end", lambda: (runs := self.new_runs()) and all(r["ended"] for r in runs))
        stored, lost, out = 0, {}, self.work / "run.ndjson"
        for run in self.new_runs():
            self.instruct("export", "--run", run["run"], "--format", "ndjson", "-o", out)
            account = a.Account(out)
            wrong = [n for n, times in account.found.items() if times > 1 or n[1] >= made.get(n[0], 0)]
            if wrong or account.others or account.unknown:
                raise self.Failed(f"run {run['run']}: {len(wrong)} events that came twice or were never made, {len(account.others)} of others, "
                                  f"{account.unknown} losses of unknown number")
            stored += len(account.found)
            for cause, n in account.lost.items():
                lost[cause] = lost.get(cause, 0) + n
            self.seen_runs.add(run["run"])
        return {"made": sum(made.values()), "stored": stored, "lost": lost}

    def account_devices(self):
        from account import account, read_sent
        wrong, sums = account(self.runs_file, [self.server])
        if wrong:
            raise self.Failed(f"simulated devices: {wrong[:3]}")
        rows = read_sent(self.runs_file)
        return {"made": sum(r[4] + r[5] for r in rows), "stored": sums["events"], "lost": {"spool": sums["ledger"]} if sums["ledger"] else {}}

    def tell(self):
        """For whoever has to find out what went wrong."""
        return f"device: {self.device()}\nagent: {self.agent.tail()}\ncollector: {self.collector.tail()}"

    def describe(self):
        return {"kind": "host", "keys": self.with_keys, "events_per_s": [RATE, FLOOD], "devices": DEVICES, "device_events_per_s": self.device_rate}

    def check_store(self):
        for program in (self.agent, self.collector):
            program.stop()
        done = subprocess.run([self.accounting.KISEKI, "check", self.work / "store"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise self.Failed(f"kiseki check finds damage: {done.stdout[-500:]}")

    def close(self):
        for process in (self.generator, self.fleet, *(p.process for p in self.programs.values())):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        for link in self.links.values():
            link.close()
        instance = self.accounting.TRACEFS / f"instances/kiseki-{self.name}"
        if instance.is_dir():
            instance.rmdir()
