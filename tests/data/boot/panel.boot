# A panel with a small systemd-like init: 6 s to its application, one slow disk, helpers that live for
# milliseconds. docs/examples/boot.ksk is made of it.
device panel-7
kernel 6.6.31
machine armv7l
cpus 2
memory 524288
interval 20
end 7000
events on
disk 0 mmcblk0
flow 0 100 900 9000 0
flow 0 1000 2150 22000 400
flow 0 2300 2900 8000 1500
flow 0 3300 4400 14000 200
flow 0 4900 5200 3000 2500
task 1 0 init -900 -
task 2 0 kthreadd -900 -
task 9 2 kworker/0:1 -900 -
task 11 2 mmcqd/0 -700 -
task 60 1 kiseki-boot -20 -
task 70 1 udevd 180 -
task 71 70 modprobe 320 355
task 72 70 modprobe 340 349
task 73 70 modprobe 400 520
task 74 70 modprobe 430 447
task 75 70 modprobe 560 640
task 76 70 modprobe 690 697
task 80 1 fsck 950 2150
task 81 80 fsck.ext4 980 2140
task 82 1 mount 2170 2260
task 90 1 journald 2280 -
task 91 1 networkd 2320 -
task 92 91 dhcpcd 2450 4700
task 95 1 sshd 2400 -
task 96 95 ssh-keygen 2460 3150
task 100 1 rc.local 2500 4490
task 101 100 gunzip 2560 3900
task 102 100 chown 3910 4390
task 110 1 sensord 2600 -
task 120 1 panel 4520 -
task 121 120 fc-cache 4600 5150
task 122 120 sh 5200 5206
task 123 120 glxprobe 5230 5330
exec 1 5 init /sbin/init
exec 70 182 udevd /lib/udev/udevd --daemon
exec 71 321 modprobe /sbin/modprobe -b of:Nserial
exec 72 341 modprobe /sbin/modprobe -b of:Ngpio
exec 73 401 modprobe /sbin/modprobe -b of:Ndisplay
exec 74 431 modprobe /sbin/modprobe -b of:Ni2c
exec 75 561 modprobe /sbin/modprobe -b of:Nwifi
exec 76 691 modprobe /sbin/modprobe -b of:Nwatchdog
exec 80 951 fsck /sbin/fsck -a /dev/mmcblk0p2
exec 81 981 fsck.ext4 fsck.ext4 -a /dev/mmcblk0p2
exec 82 2171 mount mount -o remount,rw /
exec 90 2282 journald /lib/systemd/journald
exec 91 2322 networkd /usr/sbin/networkd --foreground
exec 92 2452 dhcpcd dhcpcd -4 eth0
exec 95 2402 sshd /usr/sbin/sshd -D
exec 96 2462 ssh-keygen ssh-keygen -A
exec 100 2501 rc.local /bin/sh -e /etc/rc.local
exec 101 2562 gunzip gunzip -c /opt/panel/assets.gz
exec 102 3911 chown chown -R panel: /opt/panel
exec 110 2602 sensord /usr/bin/sensord -i 500ms
exec 120 4522 panel /opt/panel/bin/panel --fullscreen
exec 121 4602 fc-cache fc-cache -s
exec 122 5201 sh sh -c "test -e /dev/dri/card0"
exec 123 5232 glxprobe glxprobe --quick
run 1 5 180 55 35
run 1 900 950 30 30
run 1 2150 2170 40 40
run 1 2260 2600 25 15
run 1 4512 4522 50 30
run 70 182 320 50 40
run 70 355 400 60 30
run 70 450 560 50 30
run 70 640 700 50 20
run 71 321 350 40 50
run 72 341 349 40 60
run 73 401 430 30 60
wait 73 430 505 D folio_wait_bit_common
run 73 505 520 10 90
run 74 431 447 40 50
run 75 561 580 30 60
wait 75 580 630 D request_firmware
run 76 691 697 50 50
run 81 981 1040 60 30
wait 81 1040 1300 D blk_io_schedule
run 81 1300 1420 70 20
wait 81 1420 1800 D blk_io_schedule
run 81 1800 1900 80 15
wait 81 1900 2120 D blk_io_schedule
run 82 2171 2190 30 50
wait 82 2190 2250 D jbd2_log_wait_commit
run 90 2282 2400 40 30
run 90 3000 3060 20 10
run 90 4000 4040 20 20
run 91 2322 2460 50 20
run 92 2452 2520 40 20
wait 92 2520 4690 S do_select
run 95 2402 2458 50 30
wait 95 2458 3155 S do_wait
run 95 3155 3190 40 20
run 96 2462 3150 88 6
run 100 2501 2560 50 30
wait 100 2560 3905 S do_wait
wait 100 3905 4395 S do_wait
run 100 4395 4490 60 20
run 101 2562 2900 75 15
wait 101 2900 3000 D folio_wait_bit_common
run 101 3000 3400 70 20
wait 101 3400 3560 D folio_wait_bit_common
run 101 3560 3900 78 18
run 102 3911 3960 20 60
wait 102 3960 4360 D ext4_sync_file
run 102 4360 4390 20 70
run 110 2602 2640 40 10
run 110 3600 3610 40 10
run 110 4600 4610 40 10
run 110 5600 5610 40 10
run 120 4522 4600 70 20
wait 120 4600 5155 S do_wait
run 120 5155 5200 60 30
run 120 5206 5230 50 30
wait 120 5230 5332 S do_wait
run 120 5332 6000 80 12
run 120 6000 7000 30 8
run 121 4602 4800 80 10
wait 121 4800 4960 D folio_wait_bit_common
run 121 4960 5150 75 15
run 122 5201 5206 40 50
run 123 5232 5330 40 45
exit 122 256
mark kernel 20 EXT4-fs (mmcblk0p2): mounted filesystem
mark kernel 330 serial8250: probed
mark kernel 410 drm: panel found
mark kernel 470 i2c i2c-1: 2 devices
mark kernel 585 wlan0: firmware loaded
mark kernel 700 watchdog: 30 s
mark kernel 2200 EXT4-fs (mmcblk0p2): re-mounted
mark kernel 2455 eth0: link is up
mark phase 160 switch_root
mark phase 2265 local-fs.target
mark phase 2600 sysinit.target
mark phase 4700 network-online.target
mark target 6000 panel.service
mark clock 4705 the real time was set: +1621 s
mark stop 7000 the target is there
mark fact 0 target=panel.service
