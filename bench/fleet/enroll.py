# SPDX-License-Identifier: MIT
"""enroll: enrolls simulated devices at a collector that has keys, by a real agent, so that `fleet --keys` can speak TLS.

An agent enrolls the identity of its state folder, and `fleet --identities` says which those are.
"""
import subprocess
from pathlib import Path


def make_keys(kiseki, data):
    """An authority for a collector with that data."""
    subprocess.run([kiseki, "keys", "init", "--dir", Path(data) / "keys"], check=True, stdout=subprocess.DEVNULL)


def enroll_device(programs, data, port, device):
    """programs: (kiseki, agent); device: its state folder, its identity in hex, its name."""
    (kiseki, agent), (state, identity, name) = programs, device
    state.mkdir(parents=True, exist_ok=True)
    (state / "device-id").write_text(identity + "\n")
    token = subprocess.run([kiseki, "keys", "enroll", name, "--dir", Path(data) / "keys"], check=True, stdout=subprocess.PIPE).stdout
    subprocess.run([agent, "enroll", "--config", "/dev/null", "-c", f"127.0.0.1:{port}", "--state-dir", state], check=True, input=token,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def get_identities(fleet, options):
    text = subprocess.run([fleet, *options, "--identities"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return text.split()


def enroll_fleet(programs, data, port, folder, identities):
    """What `fleet --keys folder` wants."""
    for i, identity in enumerate(identities):
        enroll_device(programs, data, port, (Path(folder) / str(i), identity, f"sim-{identity[:12]}"))
