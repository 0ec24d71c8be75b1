// SPDX-License-Identifier: MIT
// main: starts the page.
import { render } from "preact";

import { followAlerts } from "./api/alerts";
import { followDevices } from "./api/devices";
import { followHistory } from "./api/history";
import { followAddress } from "./app/address";
import { Frame } from "./app/frame";
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
	followDevices();
	followHistory();
	followAlerts();
	render(<Frame />, root);
}
