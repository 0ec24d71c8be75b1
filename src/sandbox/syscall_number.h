/* SPDX-License-Identifier: MIT */
/*
 * syscall_number: names of system calls that not every machine has, so that one list serves all.
 *
 * Older machines have two calls where newer ones have one (open and openat), those of 32 bits have
 * calls of their own for large files and for times after 2038. What is missing here is -1, and a rule with it
 * is left out of the filter.
 */
#ifndef KISEKI_SANDBOX_SYSCALL_NUMBER_H
#define KISEKI_SANDBOX_SYSCALL_NUMBER_H

#include <sys/syscall.h>

#ifndef __NR_open
#define __NR_open (-1)
#endif
#ifndef __NR_stat
#define __NR_stat (-1)
#endif
#ifndef __NR_lstat
#define __NR_lstat (-1)
#endif
#ifndef __NR_access
#define __NR_access (-1)
#endif
#ifndef __NR_readlink
#define __NR_readlink (-1)
#endif
#ifndef __NR_mkdir
#define __NR_mkdir (-1)
#endif
#ifndef __NR_rmdir
#define __NR_rmdir (-1)
#endif
#ifndef __NR_unlink
#define __NR_unlink (-1)
#endif
#ifndef __NR_rename
#define __NR_rename (-1)
#endif
#ifndef __NR_link
#define __NR_link (-1)
#endif
#ifndef __NR_symlink
#define __NR_symlink (-1)
#endif
#ifndef __NR_chmod
#define __NR_chmod (-1)
#endif
#ifndef __NR_chown
#define __NR_chown (-1)
#endif
#ifndef __NR_poll
#define __NR_poll (-1)
#endif
#ifndef __NR_select
#define __NR_select (-1)
#endif
#ifndef __NR__newselect
#define __NR__newselect (-1)
#endif
#ifndef __NR_epoll_wait
#define __NR_epoll_wait (-1)
#endif
#ifndef __NR_epoll_create
#define __NR_epoll_create (-1)
#endif
#ifndef __NR_pipe
#define __NR_pipe (-1)
#endif
#ifndef __NR_dup2
#define __NR_dup2 (-1)
#endif
#ifndef __NR_getdents
#define __NR_getdents (-1)
#endif
#ifndef __NR_time
#define __NR_time (-1)
#endif
#ifndef __NR_accept
#define __NR_accept (-1)
#endif
#ifndef __NR_send
#define __NR_send (-1)
#endif
#ifndef __NR_recv
#define __NR_recv (-1)
#endif
#ifndef __NR_arch_prctl
#define __NR_arch_prctl (-1)
#endif
#ifndef __NR_fork
#define __NR_fork (-1)
#endif
#ifndef __NR_vfork
#define __NR_vfork (-1)
#endif
#ifndef __NR_mmap
#define __NR_mmap (-1)
#endif
#ifndef __NR_mmap2
#define __NR_mmap2 (-1)
#endif
#ifndef __NR_fcntl
#define __NR_fcntl (-1)
#endif
#ifndef __NR_fcntl64
#define __NR_fcntl64 (-1)
#endif
#ifndef __NR_lseek
#define __NR_lseek (-1)
#endif
#ifndef __NR__llseek
#define __NR__llseek (-1)
#endif
#ifndef __NR_fstat
#define __NR_fstat (-1)
#endif
#ifndef __NR_fstat64
#define __NR_fstat64 (-1)
#endif
#ifndef __NR_fstatat64
#define __NR_fstatat64 (-1)
#endif
#ifndef __NR_newfstatat
#define __NR_newfstatat (-1)
#endif
#ifndef __NR_ftruncate
#define __NR_ftruncate (-1)
#endif
#ifndef __NR_ftruncate64
#define __NR_ftruncate64 (-1)
#endif
#ifndef __NR_statfs64
#define __NR_statfs64 (-1)
#endif
#ifndef __NR_fstatfs64
#define __NR_fstatfs64 (-1)
#endif
#ifndef __NR_fstatfs
#define __NR_fstatfs (-1)
#endif
#ifndef __NR_statfs
#define __NR_statfs (-1)
#endif
#ifndef __NR_clock_gettime64
#define __NR_clock_gettime64 (-1)
#endif
#ifndef __NR_clock_getres_time64
#define __NR_clock_getres_time64 (-1)
#endif
#ifndef __NR_clock_nanosleep_time64
#define __NR_clock_nanosleep_time64 (-1)
#endif
#ifndef __NR_ppoll_time64
#define __NR_ppoll_time64 (-1)
#endif
#ifndef __NR_pselect6_time64
#define __NR_pselect6_time64 (-1)
#endif
#ifndef __NR_futex_time64
#define __NR_futex_time64 (-1)
#endif
#ifndef __NR_recvmmsg_time64
#define __NR_recvmmsg_time64 (-1)
#endif
#ifndef __NR_timerfd_settime64
#define __NR_timerfd_settime64 (-1)
#endif
#ifndef __NR_timerfd_gettime64
#define __NR_timerfd_gettime64 (-1)
#endif
#ifndef __NR_utimensat_time64
#define __NR_utimensat_time64 (-1)
#endif
#ifndef __NR_rt_sigtimedwait_time64
#define __NR_rt_sigtimedwait_time64 (-1)
#endif
#ifndef __NR_sched_rr_get_interval_time64
#define __NR_sched_rr_get_interval_time64 (-1)
#endif
#ifndef __NR_getuid32
#define __NR_getuid32 (-1)
#endif
#ifndef __NR_geteuid32
#define __NR_geteuid32 (-1)
#endif
#ifndef __NR_getgid32
#define __NR_getgid32 (-1)
#endif
#ifndef __NR_getegid32
#define __NR_getegid32 (-1)
#endif
#ifndef __NR_fchown32
#define __NR_fchown32 (-1)
#endif
#ifndef __NR_getrlimit
#define __NR_getrlimit (-1)
#endif
#ifndef __NR_ugetrlimit
#define __NR_ugetrlimit (-1)
#endif
#ifndef __NR_sigreturn
#define __NR_sigreturn (-1)
#endif
#ifndef __NR_set_tls
#define __NR_set_tls (-1)
#endif
#ifndef __NR_sync_file_range
#define __NR_sync_file_range (-1)
#endif
#ifndef __NR_sync_file_range2
#define __NR_sync_file_range2 (-1)
#endif
#ifndef __NR_arm_sync_file_range
#define __NR_arm_sync_file_range (-1)
#endif
#ifndef __NR_sendfile
#define __NR_sendfile (-1)
#endif
#ifndef __NR_sendfile64
#define __NR_sendfile64 (-1)
#endif
#ifndef __NR_fadvise64
#define __NR_fadvise64 (-1)
#endif
#ifndef __NR_arm_fadvise64_64
#define __NR_arm_fadvise64_64 (-1)
#endif
#ifndef __NR_fadvise64_64
#define __NR_fadvise64_64 (-1)
#endif
#ifndef __NR_io_uring_setup
#define __NR_io_uring_setup (-1)
#endif
#ifndef __NR_clone3
#define __NR_clone3 (-1)
#endif
#ifndef __NR_rseq
#define __NR_rseq (-1)
#endif
#ifndef __NR_close_range
#define __NR_close_range (-1)
#endif
#ifndef __NR_openat2
#define __NR_openat2 (-1)
#endif
#ifndef __NR_faccessat2
#define __NR_faccessat2 (-1)
#endif
#ifndef __NR_epoll_pwait2
#define __NR_epoll_pwait2 (-1)
#endif
#ifndef __NR_futex_waitv
#define __NR_futex_waitv (-1)
#endif
#ifndef __NR_renameat
#define __NR_renameat (-1)
#endif
#ifndef __NR_eventfd
#define __NR_eventfd (-1)
#endif
#ifndef __NR_utimes
#define __NR_utimes (-1)
#endif
#ifndef __NR_riscv_flush_icache
#define __NR_riscv_flush_icache (-1)
#endif

#endif
