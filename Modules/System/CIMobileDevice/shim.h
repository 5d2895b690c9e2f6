#pragma once
#include <libimobiledevice/libimobiledevice.h>
#include <libimobiledevice/lockdown.h>
#include <usbmuxd.h>

// The lookup options are flags of an enumeration, which Swift cannot combine.
static inline idevice_error_t ferry_idevice_new(idevice_t *device, const char *udid, int overNetwork) {
  return idevice_new_with_options(device, udid, overNetwork ? IDEVICE_LOOKUP_NETWORK : IDEVICE_LOOKUP_USBMUX);
}

static const int ferry_connection_network = CONNECTION_NETWORK;
