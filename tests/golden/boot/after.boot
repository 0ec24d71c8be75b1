# The same board: the sleep is longer, the disk faster, syslogd is gone, telemetry new, and the number of a device another.
device board
kernel 6.1.7
machine armv7l
cpus 2
memory 262144
interval 20
end 7000
events on
disk 0 mmcblk0
flow 0 900 1500 9000 0
task 1 0 init -950 -
task 2 0 kthreadd -950 -
task 9 2 kworker/0:1 -950 -
task 110 1 init 200 5000
exec 110 205 rcS /bin/sh /etc/init.d/rcS
task 111 110 rcS 250 900
exec 111 252 udevadm /sbin/udevadm settle --timeout 10
task 112 110 rcS 910 1700
exec 112 912 fsck /usr/sbin/fsck -a /dev/mmcblk1p2
task 113 110 rcS 1710 4890
exec 113 1712 sleep sleep 3.18
task 114 110 rcS 4905 4909
exec 114 4906 true /bin/true
task 117 1 init 3000 3500
exec 117 3002 telemetry /usr/bin/telemetry --once
task 120 1 init 5100 -
exec 120 5110 nginx /usr/sbin/nginx -c /etc/nginx.conf
run 111 260 700 40 20
wait 112 920 1500 D io_schedule
wait 113 1712 4890 S hrtimer_nanosleep
run 114 4905 4909 60 30
run 117 3002 3500 90 5
run 120 5110 5900 80 20
mark fact 0 interval_ns=20000000
mark kernel -300 Run /sbin/init as init process
mark target 5900 unit:nginx.service
mark stop 7000 the target is there
