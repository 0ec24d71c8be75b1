// SPDX-License-Identifier: MIT
// door: the page for those who may see it, else the login. Nothing is asked of the collector before it is known who looks.
import { useEffect } from "preact/hooks";

import { followAlerts } from "../api/alerts";
import { followDevices } from "../api/devices";
import { followHistory } from "../api/history";
import { may, me } from "../api/me";
import { Frame } from "./frame";
import { Login } from "./login";

function Inside() {
	useEffect(() => {
		followDevices();
		followHistory();
		followAlerts();
	}, []);
	return <Frame />;
}

export function Door() {
	if (!me.value) return null;
	return may("view") ? <Inside /> : <Login />;
}
