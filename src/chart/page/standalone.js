// SPDX-License-Identifier: MIT
// standalone: what starts a chart that has a page of its own (page.html), with the data that the page carries.
import { mount } from "./mount.js";

const place = document.getElementById("chart"), text = document.getElementById("data")?.textContent;
if (place && text)
	// Scripts and tests find the handle at the element.
	Object.assign(place, { chart: mount(place, JSON.parse(text), { keys: document }) });
