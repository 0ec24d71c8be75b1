// SPDX-License-Identifier: MIT
// standalone: what starts a chart that has a page of its own (page.html), with the data that the page carries, in the
// language of the browser.
import { mount } from "./mount.js";
import { languageOf } from "./words.js";

const place = document.getElementById("chart"), json = document.getElementById("data")?.textContent;
if (place && json) {
	const language = languageOf(navigator.language);
	// Scripts and tests find the handle at the element.
	Object.assign(place, { chart: mount(place, JSON.parse(json), { keys: document, language }) });
	document.documentElement.lang = language;
	document.title = place.querySelector("h1")?.textContent || document.title;
}
