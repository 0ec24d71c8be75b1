// SPDX-License-Identifier: MIT
// Search: words of the reader against the sections of all pages. The text of these is fetched when somebody wants to
// search, as a script, since a page that was opened as a file may fetch nothing else.
"use strict";
(() => {
	const MOST = 12;
	const place = document.getElementById("search");
	const root = place.dataset.root;
	const field = document.createElement("input");
	const list = document.createElement("ol");
	let asked = false;

	field.type = "search";
	field.placeholder = "Search ( / )";
	field.setAttribute("aria-label", "Search all pages");
	place.append(field, list);

	// What is in a title counts more than what is in the text; every word must be somewhere.
	function score(section, words) {
		const title = section.title.toLowerCase();
		const heading = section.heading.toLowerCase();
		let sum = 0;
		for (const word of words) {
			const here =
				(title.includes(word) ? 8 : 0) +
				(heading.includes(word) ? 12 : 0) +
				(section.text.toLowerCase().includes(word) ? 1 : 0);
			if (!here) return 0;
			sum += here;
		}
		return sum;
	}

	function excerpt(section, word) {
		const at = section.text.toLowerCase().indexOf(word);
		const from = Math.max(0, at - 40);
		return (from ? "… " : "") + section.text.slice(from, from + 120);
	}

	function show() {
		const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
		list.replaceChildren();
		if (!words.length || !window.kisekiSections) return;
		const found = window.kisekiSections
			.map((section) => [score(section, words), section])
			.filter(([points]) => points)
			.sort((a, b) => b[0] - a[0])
			.slice(0, MOST);
		for (const [, section] of found) {
			const item = document.createElement("li");
			const link = document.createElement("a");
			const more = document.createElement("small");
			link.href = root + section.url;
			link.textContent =
				section.heading === section.title ? section.title : `${section.title}: ${section.heading}`;
			more.textContent = excerpt(section, words[0]);
			link.append(more);
			item.append(link);
			list.append(item);
		}
		if (!found.length) {
			const item = document.createElement("li");
			item.textContent = "Nothing has all of these words.";
			list.append(item);
		}
	}

	function ask() {
		if (asked) return;
		asked = true;
		const script = document.createElement("script");
		script.src = `${root}sections.js`;
		script.onload = show;
		document.head.append(script);
	}

	field.addEventListener("focus", ask);
	field.addEventListener("input", show);
	document.addEventListener("keydown", (event) => {
		if (event.key === "/" && document.activeElement !== field) {
			event.preventDefault();
			field.focus();
		} else if (event.key === "Escape") {
			field.value = "";
			show();
			field.blur();
		} else if (event.key === "Enter" && document.activeElement === field) {
			list.querySelector("a")?.click();
		}
	});
})();
