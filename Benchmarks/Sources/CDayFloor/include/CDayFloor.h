#ifndef C_DAY_FLOOR_H
#define C_DAY_FLOOR_H

#include <stddef.h>
#include <stdint.h>

#pragma clang assume_nonnull begin

// A day as arrays of numbers. Memberships are by room, those of a room in the order of users.
typedef struct {
  size_t roomCount, scheduleCount, messageCount;
  const uint32_t *firstMember;       // of each room, and the end of the last
  const uint32_t *user;              // of each membership
  const uint8_t *level;              // that holds for the member: 0 all, 1 mention, 2 none
  const uint16_t *schedule;          // the user's
  const int64_t *since;              // milliseconds
  const uint16_t *begin, *length;    // of each schedule: minutes of the UTC day; 1440 for all of it
  const int64_t *at;                 // of each message, ascending
  const uint32_t *room, *sender;
  const uint8_t *mentionsAll;
  const uint32_t *firstMention;      // of each message, and the end of the last
  const uint32_t *mentioned;         // users
} FloorDay;

// What messages came to.
typedef struct {
  uint64_t decisions, pushes;
  double seconds;
} FloorTotals;

// Decides all messages in their order, with the rooms' states from one message to the next; all of
// them at the last one's instant, after a state of each room was made, if `standsStill`.
// Nanoseconds of sixteen messages each are stored in `nanoseconds`, if it is not NULL.
FloorTotals floor_decide(const FloorDay *day, int standsStill, double *_Nullable nanoseconds);

// Writes the states of all members of some rooms, loading rooms ahead.
//
// Returns the seconds that it took.
double floor_first_states(const FloorDay *day, const uint32_t *rooms, size_t count);

#pragma clang assume_nonnull end

#endif
