# SPDX-License-Identifier: MIT
"""manual: the manual pages, as the programs write them, by mandoc."""
import html
import re
import subprocess

from document import Document

NAMED = re.compile(r"<b>([a-z-]+)</b>\((\d)\)|\b(kiseki[a-z-]*)\((\d)\)")


def find(build):
    """The pages of a build folder, by name: kiseki-report.1."""
    return {path.name: path for path in sorted((build / "src").rglob("kiseki*.1")) if path.is_file()}


def read(path, names):
    """A page; names are all there are, and who is named links there."""
    text = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", path], check=True, text=True,
                          stdout=subprocess.PIPE).stdout

    def link(m):
        name = f"{m.group(1) or m.group(3)}.{m.group(2) or m.group(4)}"
        return f'<a href="{name}.html">{m.group(0)}</a>' if name in names and name != path.name else m.group(0)

    # What stands at the edges of paper, the title of the page says.
    text = re.sub(r'<table class="(?:head|foot)">.*?</table>', "", text, flags=re.S)
    # Its own anchors are replaced: those of all pages are made the same way.
    text = re.sub(r'<h([12])[^>]*><a [^>]*>(.*?)</a></h\1>', lambda m: f"<h{int(m.group(1)) + 1}>{m.group(2)}</h{int(m.group(1)) + 1}>",
                  text, flags=re.S)
    text = re.sub(r'<a class="permalink"[^>]*>(.*?)</a>', r"\1", text, flags=re.S)
    text = re.sub(r' id="[^"]*"', "", text)
    text = re.sub(r'<(/?)section[^>]*>', r"<\1div>", text)
    return Document(f"<h1>{html.escape(path.name[:-2])}</h1>\n" + NAMED.sub(link, text))


def summary(document):
    """What the line behind the name says."""
    for _, heading, text in document.sections():
        if heading == "NAME":
            return re.sub(r"^\S+\s+\W+\s*", "", text)
    return ""


def contents(documents):
    """The page that lists them; documents by name."""
    rows = "".join(f'<tr><td><a href="{name}.html"><code>{html.escape(name[:-2])}</code></a></td>'
                   f"<td>{html.escape(summary(document))}</td></tr>\n"
                   for name, document in documents.items())
    return Document("<h1>Manual pages</h1>\n<p>What <code>man</code> shows of each program and command.</p>\n"
                    f'<div class="table"><table>\n<tr><th>page</th><th>what it is about</th></tr>\n{rows}</table></div>\n')
