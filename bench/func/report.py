# SPDX-License-Identifier: MIT
"""report: RESULTS.md from the figures of run.py. Nothing is measured here."""


def table(head, rows):
    marks = ["---"] + ["--:"] * (len(head) - 1)
    lines = ["| " + " | ".join(r) + " |" for r in (head, marks, *rows)]
    return "\n".join(lines) + "\n"


def share(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "–"


def sizes(result, recorder):
    """Bits per event: a row for each form, a column for each program."""
    shown = result["programs"]
    rows = []
    for i, stage in enumerate(shown[0]["sizes"][recorder]["stages"]):
        found = [p["sizes"][recorder]["stages"][i] for p in shown]
        rows.append([stage["name"], *(f"{s['bits_per_event']:.2f}" for s in found),
                     *(f"{s['encode_ns']:.1f}" for s in found)])
    head = ["form", *(f"{p['name']}, bits" for p in shown), *(f"{p['name']}, ns" for p in shown)]
    return table(head, rows)


def all_sizes(result):
    text = ("## Size\n\nBits per event, and nanoseconds per event to encode it on one core. How long a "
            "hook takes is part of the times that it records, so the recorders differ.\n")
    for key in result["programs"][0]["sizes"]:
        text += f"\n### Recorded by {result['names'][key]}\n\n{sizes(result, key)}"
    return text


def program_cpu(row):
    return row.get("program_cpu_s", row["cpu_s"])


def times(program, names):
    """What each tracer costs one program."""
    rows, all_rows = [], program["tracers"]
    plain, off = program_cpu(all_rows["plain"]), program_cpu(all_rows["off"])
    events = all_rows["raw"]["events"]
    for key, name in names.items():
        row = all_rows[key]
        cpu = program_cpu(row)
        taken = row.get("events")
        rows.append([
            name, f"{cpu:.3f}", f"{cpu / plain:.2f}",
            "–" if key in ("plain", "off") else f"{1e9 * (cpu - off) / (taken or events):.1f}",
            f"{row['cpu_s'] - cpu:.3f}", f"{row.get('program_wall_s', row['wall_s']):.3f}",
            f"{row.get('program_kib', row['max_kib']) / 1024:.1f}",
            f"{taken:,}" if taken else "–", f"{row['bytes'] / 1e6:.1f}" if taken else "–"])
    head = ["tracer", "CPU s", "to plain", "ns/event", "others' CPU s", "wall s", "memory MiB",
            "events", "MB"]
    return table(head, rows)


def published(result, paper):
    """rtc, beside Table 2 of the paper."""
    rows = []
    paper_table = paper["table2"]
    rows.append(["the paper's printer", f"{paper['records']:,}",
                 *(share(paper_table[k][1], paper_table[k][0]) for k in ("time", "function", "all")),
                 f"{paper_table['all'][1] / paper['records']:.1f}", "–",
                 f"{paper['gbit_per_s']:.2f} (hardware)"])
    for p in result["programs"]:
        recorded = p["sizes"].get("kiseki", p["sizes"]["raw"])
        for s in recorded["rtc"]:
            unit = "10 ns" if s["unit_ns"] else f"{recorded['tick_ns']:.2f} ns"
            fields_in = s["time_in"] + s["function_in"]
            fields_out = s["time_out"] + s["function_out"]
            rows.append([f"{p['name']}, unit {unit}", f"{s['records']:,}",
                         share(s["time_out"], s["time_in"]),
                         share(s["function_out"], s["function_in"]),
                         share(fields_out, fields_in), f"{fields_out / s['records']:.1f}",
                         share(s["out"], s["in"]), f"{s['gbit_per_s']:.2f}"])
    head = ["records", "number", "timestamp", "function", "together", "bits/record", "every bit",
            "Gbit/s"]
    return table(head, rows)


def format_report(result, paper):
    trial = "**A trial on a busy machine: nothing here is a result.**\n\n" if result["trial"] else ""
    missing = "".join(f"- `{k}` was not measured: {v}\n" for k, v in result["missing"].items())
    parts = [f"# Function traces\n\n{trial}{result['date']}, {result['machine']}, "
             f"{result['cpus']} CPUs, Linux {result['kernel']}, {result['uftrace'] or 'no uftrace'}. "
             "Made by `make bench-func`; README.md says how.\n\n" + missing,
             all_sizes(result),
             "## Cost\n\nCPU time of the traced program, best of "
             f"{result['programs'][0]['tracers']['plain']['runs']} runs. *ns/event* is what "
             "is more than with hooks that nobody listens to, by the events that it recorded. *Others* "
             "are processes and threads of the tracer.\n"]
    for p in result["programs"]:
        parts.append(f"### {p['title']}\n\n{times(p, result['names'])}")
    parts.append("## `rtc` beside the paper\n\nBits after by bits before, counted as the paper's "
                 "Table 2 counts: without the class and start/end bits, of which the last column "
                 "but one has every one. Its input also had OS records (1 %); "
                 "Gbit/s are of input.\n\n" + published(result, paper))
    return "\n".join(parts)
