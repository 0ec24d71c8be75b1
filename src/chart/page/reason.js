// SPDX-License-Identifier: MIT
// reason: why something is missing, or a recording ended, in the language of the chart.
//
// The programs write such a reason as a sentence, in English, into the recording or into the data of the chart. Those that
// are known are translated here by their whole text; any other stays as it came, and so do names, messages and phases,
// which are the device's own.

/**
 * @typedef {import("./types.js").Chart} Chart
 * @typedef {import("./types.js").Mark} Mark
 */

/** As it comes, and in Japanese: the first that fits. {n} and {cpu} are numbers. @type {[string, string][]} */
export const reasons = [
	["no events of the scheduler: what is shown was sampled", "スケジューライベントがなく、表示はサンプリングによる"],
	["events of the scheduler were lost on CPU {cpu}", "CPU {cpu} のスケジューライベントが失われた"],
	["{n} events of the scheduler were lost on CPU {cpu}", "CPU {cpu} のスケジューライベント {n} 件が失われた"],
	["some process events lost ({cause}): processes may be missing", "プロセスイベントが失われ ({cause})、欠けているプロセスがある可能性がある"],
	["{n} process events lost ({cause}): processes may be missing", "プロセスイベント {n} 件が失われ ({cause})、欠けているプロセスがある可能性がある"],
	["some records lost ({cause})", "レコードが失われた ({cause})"],
	["{n} records lost ({cause})", "レコード {n} 件が失われた ({cause})"],
	["process events: the kernel dropped some; at most {n} starts", "プロセスイベント: カーネルが一部を破棄 (開始は最大 {n} 件)"],
	["process events: the kernel dropped some", "プロセスイベント: カーネルが一部を破棄"],
	["no process events: they were not wanted", "プロセスイベントなし: 設定により記録していない"],
	["no process events: the kernel lacks CONFIG_PROC_EVENTS ({why})", "プロセスイベントなし: カーネルに CONFIG_PROC_EVENTS がない ({why})"],
	["no process events: {why}", "プロセスイベントなし: {why}"],
	["exit accounts: the kernel dropped some", "終了時の統計: カーネルが一部を破棄"],
	["exit accounts: version {n} of the kernel's struct is not known", "終了時の統計: カーネルの構造体のバージョン {n} は未知"],
	["no exit accounts: they were not wanted", "終了時の統計なし: 設定により記録していない"],
	["no exit accounts: the kernel lacks CONFIG_TASKSTATS ({why})", "終了時の統計なし: カーネルに CONFIG_TASKSTATS がない ({why})"],
	["no exit accounts: the kernel refuses them ({why})", "終了時の統計なし: カーネルが拒否 ({why})"],
	["no exit accounts: {why}", "終了時の統計なし: {why}"],
	["kernel messages: some were overwritten before they were read", "カーネルメッセージ: 読む前に一部が上書きされた"],
	["no kernel messages: {why}", "カーネルメッセージなし: {why}"],
	["no disks: the kernel has no /proc/diskstats", "ディスクなし: カーネルに /proc/diskstats がない"],
	["no pressure: the kernel lacks CONFIG_PSI, or psi=1 on its command line", "プレッシャーなし: カーネルに CONFIG_PSI がないか、コマンドラインに psi=1 がない"],
	["states of processes: the table of {n} is full; \"processes\" sets its size", "プロセスの状態: {n} 件の表が満杯 (大きさは \"processes\" で設定)"],
	["the rest: the file system of {path} is full", "以降: {path} のファイルシステムが満杯"],
	["{n} processes are known by number only: they lived between two looks", "番号しか分からないプロセス {n} 件: サンプルの間だけ存在"],
	["{n} lines of the archive could not be read", "アーカイブの {n} 行を読めなかった"],
	["the archive ends too early", "アーカイブが途中で終わっている"],
	["taskstats.log has no ends of processes, and no states but what their times say", "taskstats.log にプロセスの終了はなく、状態は時間から分かるものだけ"],
	["the target is there", "ターゲットに到達"],
	["its time is over", "制限時間に到達"],
	["the machine is idle", "マシンがアイドル"],
	["it was told to", "指示により終了"],
	["the file system is full", "ファイルシステムが満杯"],
];

/** @param {string} template */
function patternOf(template) {
	const names = [...template.matchAll(/\{(\w+)\}/g)].map(m => m[1]);
	const text = template.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(\w+)\}/g, (_, name) => name === "n" || name === "cpu" ? "(\\d+)" : "(.+)");
	return { names, pattern: new RegExp("^" + text + "$") };
}

const patterns = reasons.map(([template, japanese]) => ({ ...patternOf(template), text: japanese }));

/** @param {string} text */
export function reasonInJapanese(text) {
	for (const r of patterns) {
		const found = r.pattern.exec(text);
		if (found)
			return r.text.replace(/\{(\w+)\}/g, (_, name) => found[r.names.indexOf(name) + 1]);
	}
	return text;
}

/** @param {Pick<Chart, "language">} chart @param {string} text */
export function reasonOf(chart, text) {
	return chart.language === "ja" ? reasonInJapanese(text) : text;
}

/** @param {Chart} chart @param {Mark} mark */
export function markText(chart, mark) {
	return mark.type === "missing" || mark.type === "stop" ? reasonOf(chart, mark.text) : mark.text;
}
