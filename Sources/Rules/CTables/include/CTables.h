// Tables of others, embedded as the files that scripts write from their sources.
#ifndef CTABLES_H
#define CTABLES_H

#include <stddef.h>
#include <stdint.h>

/// characters.bin, by scripts/make-characters, which says what the bytes are. Derived from the Unicode
/// Character Database 17.0.0: Copyright (c) 1991-2025 Unicode, Inc., under the Unicode License v3
/// (https://www.unicode.org/license.txt).
extern const uint8_t *const ct_characters;
extern const size_t ct_characters_count;

/// zone-links.txt, by scripts/zone-links: the links of the IANA time zone database, which is in the
/// public domain. The first line is its version. Others are a target, and names that mean it; people tell
/// a name with a star from the target, though both are alike since 1970.
extern const uint8_t *const ct_zone_links;
extern const size_t ct_zone_links_count;

#endif
