# A small machine with a busybox-like init: 3 s, one slow disk, one short-lived helper.
device a9
kernel 6.1.0
machine armv7l
cpus 2
memory 524288
interval 20
end 3000
events on
disk 0 mmcblk0
flow 0 0 1400 12000 0
flow 0 1500 2100 0 3000
task 1 0 init -950 -
task 2 0 kthreadd -950 -
task 9 2 kworker/0:1 -900 -
task 60 1 kiseki-boot -20 -
task 61 1 rcS 120 1900
task 62 61 mount 150 420
task 63 61 fsck 430.5 433.25
task 64 61 networkd 500 -
task 65 61 modprobe 510 900
task 66 61 sh 900 1890
task 67 66 sleep 905 1800
task 70 1 getty 1950 -
thread 71 64 worker 600 -
exec 1 20 init /sbin/init
exec 61 121 rcS /bin/sh /etc/init.d/rcS
exec 62 152 mount mount -a
exec 63 430.75 fsck fsck -p /dev/mmcblk0p2
exec 64 505 networkd /usr/sbin/networkd --no-daemon
exec 65 512 modprobe modprobe wifi
exec 67 906 sleep sleep 0.9
exec 70 1952 getty /sbin/getty -L ttyS0 115200
run 1 20 120 60 20
run 61 121 150 70 30
run 62 152 200 10 50
wait 62 200 415 D io_schedule
run 63 430.5 433.25 80 20
run 64 505 800 40 10
wait 64 800 1500 D wait_on_page_bit
run 64 1500 1700 30 20
wait 64 1700 - S do_epoll_wait
run 65 512 700 20 60
wait 65 700 880 D wait_for_completion
wait 67 906 1800 S hrtimer_nanosleep
wait 61 433.25 1890 S do_wait
wait 71 600 - S futex_wait
exit 65 256
mark fact 0 interval_ns=20000000
mark kernel 0.5 Booting Linux on physical CPU 0x0
mark kernel 140.25 mmcblk0: mmc0:aaaa SU16G 14.8 GiB
mark kernel 410 EXT4-fs (mmcblk0p2): mounted filesystem with ordered data mode
mark phase 121 rcS begins
mark phase 1900 rcS ends
mark target 1952 process getty
mark stop 2990 target reached, 1 s later
