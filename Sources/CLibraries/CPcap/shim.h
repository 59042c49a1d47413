// libpcap: BPF compilation and link-type names.
#include <pcap/pcap.h>
