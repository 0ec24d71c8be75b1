# The same machine later: more in the kernel, and nothing of the helper.
device box
kernel 6.1.0
machine aarch64
cpus 1
sampling 1000000 0 0 0 0 24
mapping 142 0 0x30000 0x40000 0x0 - /opt/server
function 0xffff000000005000 0xffff000000006000 vfs_read
0 1000000 sample 142/142/-/server user 1000000 u=0x30100,0x30205
0 2000000 sample 142/142/-/server kernel 1000000 k=0xffff000000005020 u=0x30300,0x30205
0 3000000 sample 142/142/-/server kernel 1000000 k=0xffff000000005020 u=0x30300,0x30205
0 4000000 sample 142/142/-/server user 1000000 u=0x30400
