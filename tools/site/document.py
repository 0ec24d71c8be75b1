# SPDX-License-Identifier: MIT
"""document: a Markdown file as the text of a page.

cmark-gfm reads it. What it leaves to others is done here: headings get the anchors that tools/check-docs knows, too; links
to files become links to their pages; tables get a frame in which they can be wider than a phone.
"""
import html
import re
import subprocess
from urllib.parse import quote

COMMENT = re.compile(r"<!--.*?-->\n?", re.S)
HEADING = re.compile(r"<h([1-6])>(.*?)</h\1>", re.S)
LINK = re.compile(r'(<a href|<img src)="([^"]*)"')
SHELL = re.compile(r'(<pre><code class="language-sh">)(.*?)(</code></pre>)', re.S)
REMARK = re.compile(r"(^|[ \t])(#[ !].*)$", re.M)
ALIGN = {"center": "middle", "right": "right", "left": ""}


def plain(text):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", text))).strip()


def slug_of(title, taken):
    slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
    number = 0
    while (unique := f"{slug}-{number}" if number else slug) in taken:
        number += 1
    taken.add(unique)
    return unique


class Document:
    """A text in HTML, and its headings: (level, anchor, title)."""

    def __init__(self, text):
        self.headings = []
        taken = set()

        def anchor(m):
            title = html.unescape(re.sub(r"<[^>]*>", "", m.group(2)))
            slug = slug_of(title, taken)
            self.headings.append((int(m.group(1)), slug, re.sub(r"\s+", " ", title).strip()))
            return (f'<h{m.group(1)} id="{slug}">{m.group(2)}'
                    f'<a class="anchor" href="#{quote(slug)}" aria-label="Link to this section">#</a></h{m.group(1)}>')

        self.text = HEADING.sub(anchor, text)

    def title(self):
        return self.headings[0][2] if self.headings else "Kiseki"

    def sections(self):
        """(anchor, heading, text) of each section, for the search."""
        parts = re.split(r'(<h[1-6] id="[^"]*">)', self.text)[1:]
        for (_, anchor, heading), body in zip(self.headings, parts[1::2]):
            yield anchor, heading, plain(re.sub(r"^.*?</h[1-6]>", "", body, flags=re.S))


def read(path, resolve):
    """The document of a file; resolve(link) gives what a link of it is on the site."""
    source = COMMENT.sub("", path.read_text()) if path.suffix == ".md" else path.read_text()
    text = subprocess.run(["cmark-gfm", "-e", "table", "-e", "strikethrough", "-e", "autolink"],
                          input=source, check=True, text=True, stdout=subprocess.PIPE).stdout
    text = LINK.sub(lambda m: f'{m.group(1)}="{html.escape(resolve(html.unescape(m.group(2))))}"', text)
    text = re.sub(r' align="(\w+)"', lambda m: f' class="{ALIGN[m.group(1)]}"' if ALIGN[m.group(1)] else "", text)
    text = re.sub(r"<table>.*?</table>", lambda m: f'<div class="table" tabindex="0">{m.group(0)}</div>', text, flags=re.S)
    text = SHELL.sub(lambda m: m.group(1) + REMARK.sub(r'\1<span class="remark">\2</span>', m.group(2)) + m.group(3), text)
    return Document(text)


def show(path, name):
    """A file that is text, but no document, as it stands."""
    return Document(f"<h1>{html.escape(name)}</h1>\n<pre><code>{html.escape(path.read_text())}</code></pre>\n")
