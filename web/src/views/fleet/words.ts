// SPDX-License-Identifier: MIT
// words: those of the fleet.
import { dictionary } from "../../words/dictionary";

export const say = dictionary(
	{
		title: "Devices",
		device: "Device",
		state: "State",
		none: "No device has come yet. On each: kiseki-agent --collector HOST:7077 --start",
		idle: "idle",
		tracing: "tracing",
		failed: "failed",
		offline: "offline",
		rate: "Events/s",
	},
	{
		title: "デバイス",
		device: "デバイス",
		state: "状態",
		none: "デバイスはまだ接続していません。各デバイスで: kiseki-agent --collector HOST:7077 --start",
		idle: "待機",
		tracing: "記録中",
		failed: "失敗",
		offline: "切断",
		rate: "イベント/秒",
	},
);
