#ifndef PINNED_ZONES_H
#define PINNED_ZONES_H

/// The folder of the time zones that tests use, whatever the system has.
const char *_Nonnull pinned_zones(void);

#endif
