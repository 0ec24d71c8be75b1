#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""clickhouse: a ClickHouse server of a test's own, on loopback and in a temporary folder.

	clickhouse.py COMMAND [ARGUMENT...]

runs the command with KISEKI_TEST_STORE=clickhouse://HOST:PORT, which tests of the store take for the
engine to test, and ends with its code; 77, a skip, where no server is installed. No service of the
machine is used or started.
"""
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

from ports import free_ports

WAIT_S = 60
STARTS = 3  # ClickHouse 18.16 damages its heap at about one start of a thousand, and dies of it or hangs
CONFIG = """<yandex>
<logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
<http_port>{http}</http_port><tcp_port>{tcp}</tcp_port>
<interserver_http_port>{interserver}</interserver_http_port>
<listen_host>127.0.0.1</listen_host>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path>
<users_config>users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>67108864</mark_cache_size><timezone>UTC</timezone>
<remote_servers>{shards}</remote_servers>
</yandex>
"""
USERS = """<yandex><profiles><default><max_threads>2</max_threads></default></profiles><users>
{users}
</users><quotas><default/></quotas></yandex>
"""
USER = """<{name}><password>{password}</password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></{name}>"""


def program():
    """The server, or None."""
    return shutil.which("clickhouse-server") or shutil.which("clickhouse-server", path="/usr/sbin:/usr/bin")


class Server:
    """One server. Servers of a cluster know each other's tcp ports: shards names them."""

    all = []

    def __init__(self, folder, users=(("default", ""),), ports=None, shards=()):
        self.folder = Path(folder)
        self.http, self.tcp, interserver = ports or free_ports(3)
        self.folder.mkdir(exist_ok=True)
        nodes = "".join(f"<shard><replica><host>127.0.0.1</host><port>{p}</port></replica></shard>"
                        for p in shards)
        (self.folder / "config.xml").write_text(CONFIG.format(
            folder=self.folder, http=self.http, tcp=self.tcp, interserver=interserver,
            shards=f"<test>{nodes}</test>" if shards else ""))
        (self.folder / "users.xml").write_text(USERS.format(
            users="\n".join(USER.format(name=n, password=p) for n, p in users)))
        self.process = None
        Server.all.append(self)

    @classmethod
    def kill_all(cls):
        for server in cls.all:
            server.kill()

    def place(self, database="", user=""):
        return f"clickhouse://{user}{'@' if user else ''}127.0.0.1:{self.http}" + \
            (f"/{database}" if database else "")

    def start(self, new_session=False):
        for _ in range(STARTS):
            if self.comes_up(new_session):
                return self
            self.kill()
        raise AssertionError(f"no server: {self.said()}")

    def comes_up(self, new_session):
        with open(self.folder / "output", "ab") as output:
            # Meson has malloc() fill what it hands out, which finds mistakes of ours; this server has gigabytes filled by that.
            environment = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}
            self.process = subprocess.Popen(
                [program(), f"--config-file={self.folder}/config.xml"], cwd=self.folder, env=environment,
                stdout=output, stderr=output, start_new_session=new_session)
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/", timeout=5):
                    return True
            except OSError:
                time.sleep(0.05)
        return False

    def said(self):
        """Of a test that failed: whether it lives, and its last words."""
        state = "not started" if not self.process else f"status {self.process.poll()}"
        words = [f.read_text(errors="replace")[-1000:] for f in (self.folder / "output", self.folder / "errors") if f.exists()]
        return f"{self.folder.name}, {state}: " + "".join(words)

    def kill(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
        if self.process:
            self.process.wait(WAIT_S)

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def ask(self, sql, user="default", password=""):
        request = urllib.request.Request(f"http://127.0.0.1:{self.http}/", data=sql.encode())
        request.add_header("X-ClickHouse-User", user)
        request.add_header("X-ClickHouse-Key", password)
        try:
            with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
                return answer.read()
        except urllib.error.HTTPError as e:
            raise AssertionError(e.read().decode(errors="replace")) from e


def main():
    if not program():
        print("skipped: clickhouse-server is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="kiseki-clickhouse-") as folder:
        server = Server(folder)
        try:
            server.start()
            code = subprocess.call(sys.argv[1:],
                                   env={**os.environ, "KISEKI_TEST_STORE": server.place()})
        finally:
            server.kill()
    sys.exit(code)


if __name__ == "__main__":
    main()
