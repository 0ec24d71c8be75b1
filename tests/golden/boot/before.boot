# A board with one slow start script: its children run one after the other, one waits for the disk, one only waits.
device board
kernel 6.1.0
machine armv7l
cpus 2
memory 262144
interval 20
end 6000
events on
disk 0 mmcblk0
disk 1 mmcblk0p2
flow 0 900 1900 9000 0
flow 1 900 1900 9000 0
task 1 0 init -900 -
task 2 0 kthreadd -900 -
task 9 2 kworker/0:1 -900 -
task 10 1 init 200 4000
exec 10 205 rcS /bin/sh /etc/init.d/rcS
task 11 10 rcS 250 900
exec 11 252 udevadm /sbin/udevadm settle --timeout 10
task 12 10 rcS 910 2100
exec 12 912 fsck /sbin/fsck -a /dev/mmcblk0p2
task 13 10 rcS 2110 3900
exec 13 2112 sleep sleep 1.79
task 14 10 rcS 3905 3909
exec 14 3906 true /bin/true
task 15 1 init 300 2500
exec 15 301 syslogd /sbin/syslogd -n
task 20 1 init 4100 -
exec 20 4110 nginx /usr/sbin/nginx -c /etc/nginx.conf
run 9 920 1900 0 2
run 11 260 700 40 20
wait 12 920 1900 D io_schedule
wait 13 2112 3900 S hrtimer_nanosleep
run 14 3905 3909 60 30
run 20 4110 4700 80 20
exit 14 256
mark fact 0 interval_ns=20000000
mark fact 0 command_line=console=ttyS0 root=/dev/mmcblk0p2
mark kernel -300 Run /sbin/init as init process
mark phase 205 rcS begins
mark target 4700 unit:nginx.service
mark stop 6000 the target is there
loss 0 3000 7
