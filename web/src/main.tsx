// SPDX-License-Identifier: MIT
// main: starts the page.
import { render } from "preact";

import { loadMe, me } from "./api/me";
import { followAddress } from "./app/address";
import { Door } from "./app/door";
import { followKeys } from "./app/keys";
import { followTheme } from "./app/theme";
import "./style/frame.css";
import "./style/parts.css";
import { language } from "./words/dictionary";

const root = document.getElementById("kiseki");
if (root) {
	document.documentElement.lang = language.value;
	followTheme();
	followAddress();
	followKeys();
	render(<Door />, root);
	/* Who cannot be asked says so with everything else that is asked. */
	loadMe().catch(() => (me.value = { needs_login: false, user: null, role: "admin" }));
}
