/* SPDX-License-Identifier: MIT */
/*
 * http_routes: the table of all paths. docs/api/openapi.json describes the same, and a test holds
 * the two together.
 */
#include <errno.h>
#include <string.h>

#include "collector/http_range.h"
#include "collector/http_request.h"
#include "facts/fact_answer.h"

#define API "/api/v1"
#define DEVICE API "/devices/{device}"
#define RUN API "/runs/{run}"
#define EXPORT HTTP_RANGE_PARAMS " format codec kind"
#define SCHED HTTP_RANGE_TIMES " task pid comm sort limit"
#define LATENCY SCHED " worst"
#define BOOT "sampled"
#define BOOT_DATA BOOT " min kernel path with"
#define BOOT_CHART BOOT_DATA " width"
#define BOOT_REPORT BOOT " to path min kernel limit"
#define BOOT_DIFF BOOT " with min kernel limit"
#define CALLS HTTP_RANGE_TIMES " process thread"
#define PROFILE HTTP_RANGE_TIMES " process thread cpu mode value"
#define PROFILE_ROWS PROFILE " by sort limit"
#define PROFILE_TREE PROFILE " groups callers depth min limit"
#define PROFILE_TIMELINE PROFILE " width by limit"
#define VM HTTP_RANGE_TIMES " limit"
#define VM_BY VM " by"
#define VM_SLICES VM " width"
#define VM_TREE VM " vcpus threads depth min"
#define TIMELINE HTTP_RANGE_TIMES " width tasks"
#define EVENTS HTTP_RANGE_PARAMS " limit after before"
#define CHAIN "from to pid at_ns limit"
#define SLICES HTTP_RANGE_TIMES " limit"

static const struct http_route routes[] = {
	{ "GET", "/", "", http_page, "a page to look at", NEED_NOTHING },
	{ "GET", "/assets/{file}", "", http_asset, "a file of the page", NEED_NOTHING },
	{ "GET", "/healthz", "", http_health, "whether the collector can do its work",
	  NEED_NOTHING },
	{ "GET", "/metrics", "devices", http_metrics, "counters for Prometheus" },
	{ "GET", API "/openapi.json", "", http_openapi, "this description", NEED_NOTHING },
	{ "POST", API "/login", "", http_login, "log in with a browser", NEED_NOTHING },
	{ "POST", API "/logout", "", http_logout, "log out", NEED_VIEW },
	{ "GET", API "/me", "", http_me, "who asks, and what he may", NEED_NOTHING },
	{ "GET", API "/users", "", http_users, "who may ask", NEED_ADMIN },
	{ "POST", API "/users/{user}/logout", "", http_user_logout, "end all logins of a user",
	  NEED_ADMIN },
	{ "POST", API "/enroll", "", http_enroll,
	  "a token with which a device gets its certificate", NEED_ADMIN },
	{ "POST", API "/revoke", "", http_revoke, "take a device's certificates back", NEED_ADMIN },
	{ "GET", API "/formats", "", http_formats, "what a run can be exported as" },
	{ "GET", API "/devices", "", http_devices, "all devices" },
	{ "GET", DEVICE, "", http_device, "one device" },
	{ "POST", DEVICE "/start", "timeout_ms", http_instruct_start, "trace" },
	{ "POST", DEVICE "/stop", "timeout_ms", http_instruct_stop, "stop tracing" },
	{ "POST", DEVICE "/configure", "timeout_ms", http_instruct_configure,
	  "change what to trace" },
	{ "POST", DEVICE "/group", "", http_group, "put it into a group" },
	{ "GET", DEVICE "/labels", "", http_device_labels, "its labels" },
	{ "POST", DEVICE "/labels", "", http_label, "give it labels, or take them away" },
	{ "GET", DEVICE "/runs", "limit kind", http_device_runs,
	  "runs of a device, the latest first" },
	{ "GET", DEVICE "/export", EXPORT, http_export, "its latest run in any format" },
	{ "GET", DEVICE "/timeline", TIMELINE, http_timeline, "its latest run for a drawing" },
	{ "GET", DEVICE "/slices", SLICES, http_slices, "a part of its latest run in detail" },
	{ "GET", DEVICE "/events", EVENTS, http_events, "a page of the events of its latest run" },
	{ "GET", DEVICE "/chain", CHAIN, http_chain, "the wakeups that led to a moment" },
	{ "GET", DEVICE "/report/sched", SCHED, http_report_sched, "who had the CPUs" },
	{ "GET", DEVICE "/report/latency", LATENCY, http_report_latency, "how long tasks waited" },
	{ "GET", DEVICE "/calls/report", CALLS " function min sort limit", http_calls_report,
	  "what each function cost" },
	{ "GET", DEVICE "/calls/tree", CALLS " depth min limit", http_calls_tree,
	  "who called whom, for a flame graph" },
	{ "GET", DEVICE "/calls/diff", CALLS " function min sort limit " HTTP_RANGE_WITH,
	  http_calls_diff, "what functions cost at two times" },
	{ "GET", DEVICE "/calls/slices", CALLS " min_ns limit", http_calls_slices,
	  "calls as spans, for a timeline" },
	{ "GET", DEVICE "/profile/report", PROFILE_ROWS " function percent", http_profile_report,
	  "where the time went" },
	{ "GET", DEVICE "/profile/tree", PROFILE_TREE, http_profile_tree,
	  "stacks of samples, for a flame graph" },
	{ "GET", DEVICE "/profile/diff", PROFILE_ROWS " " HTTP_RANGE_WITH, http_profile_diff,
	  "where the time went at two times" },
	{ "GET", DEVICE "/profile/timeline", PROFILE_TIMELINE, http_profile_timeline,
	  "a profile over time, for an overview" },
	{ "GET", DEVICE "/vm/report", VM_BY, http_vm_report,
	  "where the time of virtual machines went" },
	{ "GET", DEVICE "/vm/steal", VM, http_vm_steal,
	  "who and what kept virtual CPUs from running" },
	{ "GET", DEVICE "/vm/correct", VM_BY, http_vm_correct, "true times of what ran in guests" },
	{ "GET", DEVICE "/vm/tree", VM_TREE, http_vm_tree,
	  "all time of virtual CPUs, for a flame graph" },
	{ "GET", DEVICE "/vm/slices", VM_SLICES, http_vm_slices,
	  "virtual and physical CPUs over time" },
	{ "GET", DEVICE "/ledger", HTTP_RANGE_TIMES " kind", http_ledger,
	  "what its latest run lacks" },
	{ "GET", DEVICE "/boot.html", BOOT_CHART, http_boot_html, "its latest boot as a page" },
	{ "GET", DEVICE "/boot.svg", BOOT_CHART, http_boot_svg, "its latest boot as a picture" },
	{ "GET", DEVICE "/boot.chart.json", BOOT_DATA, http_boot_data,
	  "what the page of its latest boot draws" },
	{ "GET", DEVICE "/boot.json", BOOT, http_boot_json, "its latest boot as JSON" },
	{ "GET", DEVICE "/boot/report", BOOT_REPORT, http_boot_report,
	  "why its latest boot took so long" },
	{ "GET", DEVICE "/boot/diff", BOOT_DIFF, http_boot_diff,
	  "its latest boot and another one, process by process" },
	{ "GET", DEVICE "/live", "rate", http_device_live, "state and events as they come" },
	{ "GET", API "/runs", "limit kind", http_runs, "runs of all devices, the latest first" },
	{ "GET", RUN, "", http_run, "one run" },
	{ "GET", RUN "/export", EXPORT, http_export, "the run in any format" },
	{ "GET", RUN "/timeline", TIMELINE, http_timeline, "the run for a drawing" },
	{ "GET", RUN "/slices", SLICES, http_slices, "a part of the run in detail" },
	{ "GET", RUN "/events", EVENTS, http_events, "a page of the events of the run" },
	{ "GET", RUN "/chain", "pid at_ns limit", http_chain, "the wakeups that led to a moment" },
	{ "GET", RUN "/report/sched", SCHED, http_report_sched, "who had the CPUs" },
	{ "GET", RUN "/report/latency", LATENCY, http_report_latency, "how long tasks waited" },
	{ "GET", RUN "/calls/report", CALLS " function min sort limit", http_calls_report,
	  "what each function cost" },
	{ "GET", RUN "/calls/tree", CALLS " depth min limit", http_calls_tree,
	  "who called whom, for a flame graph" },
	{ "GET", RUN "/calls/diff", CALLS " function min sort limit " HTTP_RANGE_WITH,
	  http_calls_diff, "what functions cost at two times" },
	{ "GET", RUN "/calls/slices", CALLS " min_ns limit", http_calls_slices,
	  "calls as spans, for a timeline" },
	{ "GET", RUN "/profile/report", PROFILE_ROWS " function percent", http_profile_report,
	  "where the time went" },
	{ "GET", RUN "/profile/tree", PROFILE_TREE, http_profile_tree,
	  "stacks of samples, for a flame graph" },
	{ "GET", RUN "/profile/diff", PROFILE_ROWS " " HTTP_RANGE_WITH, http_profile_diff,
	  "where the time went at two times" },
	{ "GET", RUN "/profile/timeline", PROFILE_TIMELINE, http_profile_timeline,
	  "a profile over time, for an overview" },
	{ "GET", RUN "/vm/report", VM_BY, http_vm_report,
	  "where the time of virtual machines went" },
	{ "GET", RUN "/vm/steal", VM, http_vm_steal,
	  "who and what kept virtual CPUs from running" },
	{ "GET", RUN "/vm/correct", VM_BY, http_vm_correct, "true times of what ran in guests" },
	{ "GET", RUN "/vm/tree", VM_TREE, http_vm_tree,
	  "all time of virtual CPUs, for a flame graph" },
	{ "GET", RUN "/vm/slices", VM_SLICES, http_vm_slices,
	  "virtual and physical CPUs over time" },
	{ "GET", RUN "/ledger", HTTP_RANGE_TIMES, http_ledger, "what the run lacks" },
	{ "GET", RUN "/boot.html", BOOT_CHART, http_boot_html, "the boot as a page" },
	{ "GET", RUN "/boot.svg", BOOT_CHART, http_boot_svg, "the boot as a picture" },
	{ "GET", RUN "/boot.chart.json", BOOT_DATA, http_boot_data,
	  "what the page of the boot draws" },
	{ "GET", RUN "/boot.json", BOOT, http_boot_json, "the boot as JSON" },
	{ "GET", RUN "/boot/report", BOOT_REPORT, http_boot_report, "why the boot took so long" },
	{ "GET", RUN "/boot/diff", BOOT_DIFF, http_boot_diff,
	  "the boot and another one, process by process" },
	{ "GET", API "/instructions", "device limit before", http_instructions,
	  "who told which device what, the latest first" },
	{ "GET", API "/alerts", "device limit open", http_alerts,
	  "what is out of line with its own past" },
	{ "GET", API "/work", "uncovered", http_work,
	  "whether facts are worked out as fast as they come" },
	{ "GET", API "/fleet/top", FACT_ANSWER_TOP, http_fleet_top,
	  "what takes the most time, over any devices and any time" },
	{ "GET", API "/fleet/tree", FACT_ANSWER_TREE, http_fleet_tree,
	  "their stacks, for a flame graph" },
	{ "GET", API "/fleet/diff", FACT_ANSWER_DIFF, http_fleet_diff,
	  "what takes more of the time than at another time, or on other devices" },
	{ "GET", API "/fleet/diff/tree", FACT_ANSWER_DIFF_TREE, http_fleet_diff_tree,
	  "both sides in one flame graph" },
	{ "GET", API "/fleet/machines", FACT_ANSWER_MACHINES, http_fleet_machines,
	  "virtual machines, by what their time went to and who took it" },
	{ "GET", API "/fleet/trend", FACT_ANSWER_TREND, http_fleet_trend,
	  "one function, minute by minute or hour by hour" },
	{ "GET", API "/labels", "", http_labels, "the labels of all devices" },
	{ "GET", API "/live", "", http_live, "states of all devices as they change" },
};

const struct http_route *http_routes_get(size_t i)
{
	return i < sizeof(routes) / sizeof(routes[0]) ? &routes[i] : NULL;
}

enum people_role http_route_role(const struct http_route *route)
{
	switch (route->need) {
	case NEED_NOTHING:
		return ROLE_NOBODY;
	case NEED_VIEW:
		return ROLE_VIEW;
	case NEED_ADMIN:
		return ROLE_ADMIN;
	default:
		return strcmp(route->method, "GET") ? ROLE_CONTROL : ROLE_VIEW;
	}
}

static void allow_method(char *list, size_t room, const char *method)
{
	size_t len = strlen(list);

	if (!strcmp(method, "GET"))
		method = "GET, HEAD";
	if (len + strlen(method) + 3 <= room) {
		strcpy(list + len, len ? ", " : "");
		strcat(list + len, method);
	}
}

int http_routes_find(struct http_request *q, const char *method)
{
	size_t i;

	q->allow[0] = 0;
	for (i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
		if (!http_target_match(&q->target, routes[i].pattern, q->captured))
			continue;
		if (!strcmp(method, routes[i].method) ||
		    (!strcmp(method, "HEAD") && !strcmp(routes[i].method, "GET"))) {
			q->route = &routes[i];
			return 0;
		}
		allow_method(q->allow, sizeof(q->allow), routes[i].method);
	}
	return q->allow[0] ? -EPERM : -ENOENT;
}
