// libqrencode: the QR code that a phone scans to reach the set-up page.
#include <qrencode.h>
