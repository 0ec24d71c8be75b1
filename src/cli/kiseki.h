/* SPDX-License-Identifier: MIT */
/* kiseki: the commands of the program, one file each; the root's children are those of `kiseki`. */
#ifndef KISEKI_CLI_KISEKI_H
#define KISEKI_CLI_KISEKI_H

#include "command/command.h"

extern const struct command command_kiseki; /* the root: its children are the commands */
extern const struct command command_boot;
extern const struct command command_boot_chart;
extern const struct command command_boot_diff;
extern const struct command command_boot_export;
extern const struct command command_boot_record;
extern const struct command command_boot_report;
extern const struct command command_alerts;
extern const struct command command_check;
extern const struct command command_completion;
extern const struct command command_configure;
extern const struct command command_convert;
extern const struct command command_devices;
extern const struct command command_doctor;
extern const struct command command_export;
extern const struct command command_func;
extern const struct command command_func_diff;
extern const struct command command_func_export;
extern const struct command command_func_graph;
extern const struct command command_func_kernel;
extern const struct command command_func_off;
extern const struct command command_func_on;
extern const struct command command_func_report;
extern const struct command command_func_run;
extern const struct command command_func_split;
extern const struct command command_func_tree;
extern const struct command command_help;
extern const struct command command_info;
extern const struct command command_keys;
extern const struct command command_keys_enroll;
extern const struct command command_keys_init;
extern const struct command command_keys_list;
extern const struct command command_keys_repair;
extern const struct command command_keys_revoke;
extern const struct command command_keys_rotate;
extern const struct command command_keys_token;
extern const struct command command_keys_token_add;
extern const struct command command_keys_token_list;
extern const struct command command_keys_token_revoke;
extern const struct command command_keys_user;
extern const struct command command_keys_user_add;
extern const struct command command_keys_user_list;
extern const struct command command_keys_user_passwd;
extern const struct command command_keys_user_remove;
extern const struct command command_label;
extern const struct command command_ledger;
extern const struct command command_profile;
extern const struct command command_profile_diff;
extern const struct command command_profile_export;
extern const struct command command_profile_flame;
extern const struct command command_profile_record;
extern const struct command command_profile_report;
extern const struct command command_profile_top;
extern const struct command command_profile_trend;
extern const struct command command_record;
extern const struct command command_report;
extern const struct command command_report_latency;
extern const struct command command_report_sched;
extern const struct command command_runs;
extern const struct command command_serve;
extern const struct command command_start;
extern const struct command command_stop;
extern const struct command command_symbols;
extern const struct command command_symbols_build;
extern const struct command command_symbols_list;
extern const struct command command_tail;
extern const struct command command_top;
extern const struct command command_vm;
extern const struct command command_vm_correct;
extern const struct command command_vm_export;
extern const struct command command_vm_flame;
extern const struct command command_vm_record;
extern const struct command command_vm_report;
extern const struct command command_vm_steal;
extern const struct command command_vm_top;
extern const struct command command_work;

#endif
