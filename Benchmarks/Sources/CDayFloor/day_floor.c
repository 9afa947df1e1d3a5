// The least that deciding a day takes: one thread, numbers instead of ids, counts instead of
// results, and of the rules those that a generated day exercises (levels, quiet hours, joins,
// mentions, the sender). What decides a member is beside the membership and read forward; a room's
// states are kept, and a transition changes those of its members who have the schedule.

#include "CDayFloor.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  MINUTES = 1440,
  LEVEL_ALL = 0,
  LEVEL_MENTION = 1,
  QUIET = 4,
  // Not yet a member.
  ABSENT = 8,
  STATES = 8,
  // Rooms of up to so many members are resolved again after a transition.
  SMALL = 64,
  GROUP = 16,
};

typedef struct {
  int64_t at;
  uint32_t rank;
} Join;

typedef struct {
  uint32_t base, count, histogram[STATES];
  // How far the log of transitions and the joins have been applied; known once the states are made.
  uint32_t applied, joined, joinCount, runCount, known;
  // Those to come, by instant.
  Join *joins;
  // Members by schedule, made when a transition first needs them.
  uint32_t *ranks, *runs;
  uint16_t *schedules;
} Room;

typedef struct {
  const FloorDay *day;
  Room *rooms;
  uint8_t *states;
  // By schedule, QUIET or 0.
  uint8_t *quiet;
  // Schedules by the minute in which they begin or end.
  uint32_t turnsOf[MINUTES + 1];
  uint16_t *turns;
  // Those that turned, in the order of time.
  uint16_t *log;
  uint32_t logCount, logCapacity;
  int64_t minute;
  uint32_t *counts;
} Floor;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count > 0 ? count : 1, size);
  if (memory == NULL) abort();
  return memory;
}

static uint8_t quiet_at(const FloorDay *day, size_t schedule, int64_t minute) {
  int64_t offset = (minute - day->begin[schedule] + MINUTES) % MINUTES;
  return offset < day->length[schedule] ? QUIET : 0;
}

static int turns_in_day(const FloorDay *day, size_t schedule) {
  return day->length[schedule] > 0 && day->length[schedule] < MINUTES;
}

static Floor make_floor(const FloorDay *day) {
  Floor floor = {.day = day, .minute = -1};
  floor.rooms = allocate(day->roomCount, sizeof(Room));
  floor.states = allocate(day->firstMember[day->roomCount], 1);
  floor.quiet = allocate(day->scheduleCount, 1);
  floor.turns = allocate(2 * day->scheduleCount, sizeof(uint16_t));
  floor.counts = allocate(day->scheduleCount + 1, sizeof(uint32_t));
  uint32_t *end = floor.turnsOf + 1;
  for (int pass = 0; pass < 2; pass++) {
    for (size_t schedule = 0; schedule < day->scheduleCount; schedule++) {
      if (!turns_in_day(day, schedule)) continue;
      uint32_t minutes[2] = {
        day->begin[schedule],
        (uint32_t)(day->begin[schedule] + day->length[schedule]) % MINUTES,
      };
      for (int i = 0; i < 2; i++) {
        if (pass == 0) end[minutes[i]]++;
        // The second pass moves each beginning to the end.
        else floor.turns[floor.turnsOf[minutes[i]]++] = (uint16_t)schedule;
      }
    }
    if (pass == 0) {
      for (int i = 0; i < MINUTES; i++) floor.turnsOf[i + 1] += floor.turnsOf[i];
    } else {
      memmove(floor.turnsOf + 1, floor.turnsOf, MINUTES * sizeof(uint32_t));
      floor.turnsOf[0] = 0;
    }
  }
  return floor;
}

static void free_floor(Floor *floor) {
  for (size_t i = 0; i < floor->day->roomCount; i++) {
    Room *room = floor->rooms + i;
    free(room->joins);
    free(room->ranks);
    free(room->runs);
    free(room->schedules);
  }
  free(floor->rooms);
  free(floor->states);
  free(floor->quiet);
  free(floor->turns);
  free(floor->log);
  free(floor->counts);
}

static void advance(Floor *floor, int64_t minute) {
  const FloorDay *day = floor->day;
  if (floor->minute < 0) {
    floor->minute = minute;
    for (size_t i = 0; i < day->scheduleCount; i++) {
      floor->quiet[i] = quiet_at(day, i, minute % MINUTES);
    }
  }
  while (floor->minute < minute) {
    int64_t of = ++floor->minute % MINUTES;
    for (uint32_t i = floor->turnsOf[of]; i < floor->turnsOf[of + 1]; i++) {
      uint16_t schedule = floor->turns[i];
      uint8_t value = quiet_at(day, schedule, of);
      if (value == floor->quiet[schedule]) continue;
      floor->quiet[schedule] = value;
      if (floor->logCount == floor->logCapacity) {
        floor->logCapacity = floor->logCapacity * 2 + 4096;
        floor->log = realloc(floor->log, floor->logCapacity * sizeof(uint16_t));
        if (floor->log == NULL) abort();
      }
      floor->log[floor->logCount++] = schedule;
    }
  }
}

static inline void set(Floor *floor, Room *room, uint32_t rank, uint8_t state) {
  uint8_t *place = floor->states + room->base + rank;
  if (*place == state) return;
  if (!(*place & ABSENT)) room->histogram[*place]--;
  if (!(state & ABSENT)) room->histogram[state]++;
  *place = state;
}

static int compare_joins(const void *left, const void *right) {
  const Join *a = left, *b = right;
  if (a->at != b->at) return a->at < b->at ? -1 : 1;
  return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static void make_states(Floor *floor, uint32_t number, int64_t at) {
  const FloorDay *day = floor->day;
  Room *room = floor->rooms + number;
  room->base = day->firstMember[number];
  room->count = day->firstMember[number + 1] - room->base;
  const uint8_t *level = day->level + room->base;
  const uint16_t *schedule = day->schedule + room->base;
  const int64_t *since = day->since + room->base;
  uint8_t *states = floor->states + room->base;
  for (uint32_t i = 0; i < room->count; i++) states[i] = level[i] | floor->quiet[schedule[i]];
  uint32_t count = 0;
  for (uint32_t i = 0; i < room->count; i++) count += since[i] > at;
  if (count > 0) {
    room->joins = allocate(count, sizeof(Join));
    for (uint32_t i = 0; i < room->count; i++) {
      if (since[i] <= at) continue;
      states[i] |= ABSENT;
      room->joins[room->joinCount++] = (Join){.at = since[i], .rank = i};
    }
    qsort(room->joins, count, sizeof(Join), compare_joins);
  }
  for (uint32_t i = 0; i < room->count; i++) {
    if (!(states[i] & ABSENT)) room->histogram[states[i]]++;
  }
  room->applied = floor->logCount;
  room->known = 1;
}

static void make_runs(Floor *floor, Room *room) {
  size_t schedules = floor->day->scheduleCount;
  const uint16_t *schedule = floor->day->schedule + room->base;
  uint32_t *counts = floor->counts;
  memset(counts, 0, (schedules + 1) * sizeof(uint32_t));
  for (uint32_t i = 0; i < room->count; i++) counts[schedule[i] + 1]++;
  for (size_t i = 0; i < schedules; i++) room->runCount += counts[i + 1] > 0;
  room->schedules = allocate(room->runCount, sizeof(uint16_t));
  room->runs = allocate(room->runCount + 1, sizeof(uint32_t));
  room->ranks = allocate(room->count, sizeof(uint32_t));
  uint32_t run = 0;
  for (size_t i = 0; i < schedules; i++) {
    if (counts[i + 1] > 0) {
      room->schedules[run] = (uint16_t)i;
      room->runs[run++] = counts[i];
    }
    counts[i + 1] += counts[i];
  }
  room->runs[run] = room->count;
  for (uint32_t i = 0; i < room->count; i++) room->ranks[counts[schedule[i]]++] = i;
}

// The first index whose value is not below `value`.
static inline uint32_t search32(const uint32_t *values, uint32_t count, uint32_t value) {
  uint32_t low = 0;
  while (count > 0) {
    uint32_t half = count / 2;
    if (values[low + half] < value) low += half + 1, count -= half + 1;
    else count = half;
  }
  return low;
}

static inline uint32_t search16(const uint16_t *values, uint32_t count, uint16_t value) {
  uint32_t low = 0;
  while (count > 0) {
    uint32_t half = count / 2;
    if (values[low + half] < value) low += half + 1, count -= half + 1;
    else count = half;
  }
  return low;
}

static void apply_transitions(Floor *floor, Room *room) {
  const FloorDay *day = floor->day;
  const uint8_t *states = floor->states + room->base;
  uint32_t end = floor->logCount;
  if (room->count <= SMALL || (end - room->applied) * 8 > room->count) {
    for (uint32_t i = 0; i < room->count; i++) {
      uint8_t quiet = floor->quiet[day->schedule[room->base + i]];
      set(floor, room, i, day->level[room->base + i] | quiet | (states[i] & ABSENT));
    }
  } else {
    if (room->ranks == NULL) make_runs(floor, room);
    for (uint32_t i = room->applied; i < end; i++) {
      uint16_t schedule = floor->log[i];
      uint32_t run = search16(room->schedules, room->runCount, schedule);
      if (run == room->runCount || room->schedules[run] != schedule) continue;
      for (uint32_t j = room->runs[run]; j < room->runs[run + 1]; j++) {
        uint32_t rank = room->ranks[j];
        set(floor, room, rank, (states[rank] & ~QUIET) | floor->quiet[schedule]);
      }
    }
  }
  room->applied = end;
}

static inline int pushes(uint8_t state, int isMentioned) {
  if (state & (QUIET | ABSENT)) return 0;
  return state == LEVEL_ALL || (state == LEVEL_MENTION && isMentioned);
}

static inline uint32_t rank_of(const FloorDay *day, const Room *room, uint32_t user) {
  const uint32_t *users = day->user + room->base;
  uint32_t rank = search32(users, room->count, user);
  return rank < room->count && users[rank] == user ? rank : UINT32_MAX;
}

static void decide(Floor *floor, size_t message, int64_t at, FloorTotals *totals) {
  const FloorDay *day = floor->day;
  uint32_t number = day->room[message];
  Room *room = floor->rooms + number;
  if (!room->known) {
    make_states(floor, number, at);
  } else {
    if (room->applied < floor->logCount) apply_transitions(floor, room);
    while (room->joined < room->joinCount && room->joins[room->joined].at <= at) {
      uint32_t rank = room->joins[room->joined++].rank;
      set(floor, room, rank, floor->states[room->base + rank] & ~ABSENT);
    }
  }
  int all = day->mentionsAll[message];
  int64_t decisions = 0, count = 0;
  for (uint8_t state = 0; state < STATES; state++) {
    decisions += room->histogram[state];
    if (pushes(state, all)) count += room->histogram[state];
  }
  const uint8_t *states = floor->states + room->base;
  uint32_t own = rank_of(day, room, day->sender[message]);
  for (uint32_t i = day->firstMention[message]; i < day->firstMention[message + 1]; i++) {
    uint32_t rank = rank_of(day, room, day->mentioned[i]);
    if (rank == UINT32_MAX || rank == own) continue;
    count += pushes(states[rank], 1) - pushes(states[rank], all);
  }
  if (own != UINT32_MAX && !(states[own] & ABSENT)) {
    decisions--;
    count -= pushes(states[own], all);
  }
  totals->decisions += (uint64_t)decisions;
  totals->pushes += (uint64_t)count;
}

FloorTotals floor_decide(const FloorDay *day, int standsStill, double *nanoseconds) {
  Floor floor = make_floor(day);
  FloorTotals totals = {0};
  int64_t last = day->messageCount > 0 ? day->at[day->messageCount - 1] : 0;
  if (standsStill) {
    advance(&floor, last / 60000);
    for (size_t i = 0; i < day->messageCount; i++) {
      if (!floor.rooms[day->room[i]].known) make_states(&floor, day->room[i], last);
    }
  }
  double start = now(), before = start;
  for (size_t i = 0; i < day->messageCount; i++) {
    int64_t at = standsStill ? last : day->at[i];
    advance(&floor, at / 60000);
    decide(&floor, i, at, &totals);
    if (nanoseconds != NULL && i % GROUP == GROUP - 1) {
      double end = now();
      nanoseconds[i / GROUP] = (end - before) * 1e9 / GROUP;
      before = end;
    }
  }
  totals.seconds = now() - start;
  free_floor(&floor);
  return totals;
}

double floor_first_states(const FloorDay *day, const uint32_t *rooms, size_t count) {
  uint32_t most = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t members = day->firstMember[rooms[i] + 1] - day->firstMember[rooms[i]];
    if (members > most) most = members;
  }
  uint8_t *states = allocate(most, 1), *quiet = allocate(day->scheduleCount, 1);
  int64_t minute = day->messageCount > 0 ? day->at[0] / 60000 % MINUTES : 0;
  for (size_t i = 0; i < day->scheduleCount; i++) quiet[i] = quiet_at(day, i, minute);
  volatile uint8_t read = 0;
  double start = now();
  for (size_t i = 0; i < count; i++) {
    if (i + 16 < count) __builtin_prefetch(day->firstMember + rooms[i + 16]);
    if (i + 8 < count) {
      uint32_t ahead = day->firstMember[rooms[i + 8]];
      __builtin_prefetch(day->level + ahead);
      __builtin_prefetch(day->schedule + ahead);
    }
    uint32_t base = day->firstMember[rooms[i]];
    uint32_t members = day->firstMember[rooms[i] + 1] - base;
    for (uint32_t j = 0; j < members; j++) {
      states[j] = day->level[base + j] | quiet[day->schedule[base + j]];
    }
    if (members > 0) read = states[members - 1];
  }
  double end = now();
  (void)read;
  free(states);
  free(quiet);
  return end - start;
}
