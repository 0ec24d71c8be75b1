# SPDX-License-Identifier: MIT
"""methods: the recorders that are compared: how each is put before init, and how it says what it cost.

Each is the board's first program, as its makers mean it, and starts busybox' init. A method is a row: what
goes on the kernel's command line, which files it needs on the board, what its process is called, and how it
is told to end.
"""
import gzip
from dataclasses import dataclass, field

INIT = "/sbin/init"
OUT = "/run/boot.ksk"
ARCHIVE = "/var/log/bootlog.tgz"


@dataclass(frozen=True)
class Method:
    key: str
    name: str
    words: str  # on the kernel's command line
    process: str = ""  # name of the recorder's process
    stop: str = ""
    result: str = ""  # what it leaves
    needs: tuple = ()  # programs, by the names of run.py
    files: dict = field(default_factory=dict)  # path: text

    def recorded(self, data):
        """Bytes of the recording itself."""
        if self.result.endswith("tgz"):
            return {"bytes": len(data), "raw_bytes": len(gzip.decompress(data))}
        return {"bytes": len(data), "raw_bytes": len(data)}


def kiseki(ms):
    return Method(f"kiseki-{ms}", f"kiseki-boot, {ms} ms",
                  f"rdinit=/sbin/kiseki-boot kiseki_boot.init={INIT} kiseki_boot.interval={ms}ms "
                  f"kiseki_boot.out={OUT} kiseki_boot.idle=0 kiseki_boot.time=600s",
                  process="kiseki-boot", stop="/sbin/kiseki-boot --stop", result=OUT,
                  needs=("kiseki-boot",))


def bootchartd(ms):
    return Method(f"bootchartd-{ms}", f"busybox bootchartd, {ms} ms",
                  f"rdinit=/sbin/bootchartd bootchart_init={INIT}",
                  process="bootchartd", stop="killall -USR1 bootchartd", result=ARCHIVE,
                  needs=("bootchartd",),
                  files={"/etc/bootchartd.conf": f"SAMPLE_PERIOD={ms / 1000}\nPROCESS_ACCOUNTING=no\n"})


NONE = Method("none", "no recorder", f"rdinit={INIT}")
METHODS = {m.key: m for m in (NONE, kiseki(20), kiseki(200), bootchartd(200), bootchartd(20))}
