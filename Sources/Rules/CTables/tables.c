#include "CTables.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

static const uint8_t characters[] = {
#embed "characters.bin"
};
const uint8_t *const ct_characters = characters;
const size_t ct_characters_count = sizeof characters;

static const uint8_t zone_links[] = {
#embed "zone-links.txt"
};
const uint8_t *const ct_zone_links = zone_links;
const size_t ct_zone_links_count = sizeof zone_links;
