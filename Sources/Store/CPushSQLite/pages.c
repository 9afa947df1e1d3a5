#include "CPushSQLite.h"

#include "CPushKernels.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// The VFS stands on the default one, and hands everything on but reads, writes and the lock under
// which a log is recovered.
//
// The database's pages end with 8 reserved bytes (https://www.sqlite.org/fileformat.html, 1.3.4), in
// which a checksum is written and compared; SQLite itself never looks there. The log's frames have
// checksums of SQLite's own, which it compares only when it recovers a log. Each continues that of
// the frame before, which is stored too, so a single frame can be compared.

enum {
  page_size = ps_page_size,
  header_size = 100,
  log_header_size = 32,
  frame_header_size = 24,
  frame_size = frame_header_size + page_size,
  // So many bytes of a log are kept at most until they are written together: SQLite's own VFS writes
  // less than 128 KiB by a call.
  kept_limit = 31 * frame_size,
  reserved_place = 20,
  // Slots of the lock in shared memory: writing, checkpoints, recovery, readers.
  writing_slot = 0,
  recovery_slot = 2,
  scan_operation = 0x50467363,
};

const char *const ps_vfs_name = "push-fanout";

typedef struct File File;
struct File {
  sqlite3_file file;
  // Of a database its log, of a log its database; null for none.
  File *other;
  // Of a log: where the frame begins whose header was written last, or -1.
  sqlite3_int64 header;
  // The last frame that this connection has appended.
  sqlite3_int64 newest;
  // The first frame whose page was written a second time in a transaction. SQLite writes the
  // checksums from there on again when it commits; until then they are wrong. -1 for none.
  sqlite3_int64 stale;
  // Frames of a transaction that has not ended, kept to be written together; null until there are
  // some. They are in the file before it is read, and before the write that ends the transaction
  // returns.
  uint8_t *kept;
  int kept_count;
  sqlite3_int64 kept_at;
};

static sqlite3_vfs *below;

static File *ours(sqlite3_file *file) { return (File *)file; }
static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)(ours(file) + 1); }

// Of all files, for people who wait.
static atomic_uint_fast64_t moved;

uint64_t ps_moved_bytes(void) { return atomic_load_explicit(&moved, memory_order_relaxed); }

static int real_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 at) {
  atomic_fetch_add_explicit(&moved, (uint64_t)count, memory_order_relaxed);
  return real(file)->pMethods->xRead(real(file), bytes, count, at);
}

static int real_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at) {
  atomic_fetch_add_explicit(&moved, (uint64_t)count, memory_order_relaxed);
  return real(file)->pMethods->xWrite(real(file), bytes, count, at);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}

// MARK: The database

uint64_t ps_checksum(const uint8_t *page, uint32_t number) {
  // Multiplied by an odd constant, so that the numbers of all pages give different summands.
  return pk_checksum(page, page_size - ps_checksum_size) + number * 0x9E3779B97F4A7C15ull;
}

int ps_is_right(const uint8_t *page, uint32_t number) {
  uint64_t stored;
  memcpy(&stored, page + page_size - ps_checksum_size, sizeof stored);
  return stored == ps_checksum(page, number);
}

static int read_page(sqlite3_file *file, uint8_t *page, sqlite3_int64 at) {
  int code = real_read(file, page, page_size, at);
  if (code == SQLITE_IOERR_SHORT_READ) {
    sqlite3_int64 size = 0;
    int found = file_size(file, &size);
    // SQLite takes a missing page for zeros. A new file has none; any other was cut off.
    return found != SQLITE_OK ? found : size == 0 ? code : SQLITE_IOERR_DATA;
  }
  if (code != SQLITE_OK) return code;
  return ps_is_right(page, (uint32_t)(at / page_size + 1)) ? SQLITE_OK : SQLITE_IOERR_DATA;
}

static int database_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 at) {
  // Only the header: its page is read as a whole before any other value is used, from the log if it is
  // there, and then that in the file may be half written.
  if (at + count <= header_size) return real_read(file, bytes, count, at);
  sqlite3_int64 inside = at % page_size;
  if (count == page_size && inside == 0) return read_page(file, bytes, at);
  // Some versions read overflow pages in part. Pages of another size were never written.
  if (inside + count > page_size) return SQLITE_IOERR_DATA;
  uint8_t page[page_size];
  int code = read_page(file, page, at - inside);
  if (code == SQLITE_OK) memcpy(bytes, page + inside, (size_t)count);
  return code;
}

static int database_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at) {
  if (count != page_size || at % page_size) return SQLITE_IOERR_WRITE;
  // A database without room would lose the ends of its pages.
  if (at == 0 && ((const uint8_t *)bytes)[reserved_place] != ps_checksum_size)
    return SQLITE_IOERR_WRITE;
  uint8_t page[page_size];
  memcpy(page, bytes, page_size - ps_checksum_size);
  uint64_t sum = ps_checksum(page, (uint32_t)(at / page_size + 1));
  memcpy(page + page_size - ps_checksum_size, &sum, sizeof sum);
  return real_write(file, page, page_size, at);
}

static int scan(sqlite3_file *file, uint32_t *wrong) {
  sqlite3_int64 size = 0;
  int code = file_size(file, &size);
  *wrong = 0;
  for (sqlite3_int64 at = 0; code == SQLITE_OK && at < size; at += page_size) {
    // SQLite locks bytes of the page at 1 GiB, which is never written.
    if (at == 1 << 30) continue;
    uint8_t page[page_size];
    code = read_page(file, page, at);
    if (code == SQLITE_IOERR_DATA) {
      *wrong = (uint32_t)(at / page_size + 1);
      return SQLITE_OK;
    }
  }
  return code;
}

// MARK: The log (https://www.sqlite.org/fileformat.html, 4)

static uint32_t big(const uint8_t *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static uint32_t little(const uint8_t *bytes) {
  return (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

static void add(uint32_t sum[2], const uint8_t *bytes, int count, int is_big) {
  for (int i = 0; i < count; i += 8) {
    sum[0] += (is_big ? big(bytes + i) : little(bytes + i)) + sum[1];
    sum[1] += (is_big ? big(bytes + i + 4) : little(bytes + i + 4)) + sum[0];
  }
}

// Whether a frame's checksum continues the one before it.
static int continues(const uint8_t before[8], const uint8_t *header, const uint8_t *page, int is_big) {
  uint32_t sum[2] = {big(before), big(before + 4)};
  add(sum, header, 8, is_big);
  add(sum, page, page_size, is_big);
  return sum[0] == big(header + 16) && sum[1] == big(header + 20);
}

// Where the checksum is that a frame continues.
static sqlite3_int64 place_before(sqlite3_int64 frame) {
  return frame == log_header_size ? 24 : frame - frame_size + 16;
}

// Writes the frames that are kept.
static int write_kept(File *f) {
  int count = f->kept_count;
  f->kept_count = 0;
  return count == 0 ? SQLITE_OK : real_write(&f->file, f->kept, count, f->kept_at);
}

// Whether a page has the checksum of its frame.
static int compare(sqlite3_file *file, const uint8_t *page, sqlite3_int64 frame, int *is_right) {
  // The checksum that the frame continues, all in between, and the frame's header.
  uint8_t around[8 + page_size + frame_header_size], magic[4];
  sqlite3_int64 start = place_before(frame);
  int count = (int)(frame - start) + frame_header_size;
  const uint8_t *header = around + count - frame_header_size;
  int code = real_read(file, around, count, start);
  if (code != SQLITE_OK) return code;
  // Logs are in this machine's byte order, unless another kind has left one.
  int is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
  *is_right = continues(around, header, page, is_big);
  if (*is_right) return SQLITE_OK;
  code = real_read(file, magic, sizeof magic, 0);
  if (code == SQLITE_OK && (magic[3] & 1) != is_big)
    *is_right = continues(around, header, page, !is_big);
  return code;
}

static int log_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 at) {
  File *f = ours(file);
  int code = write_kept(f);
  if (code == SQLITE_OK) code = real_read(file, bytes, count, at);
  sqlite3_int64 frame = at - frame_header_size;
  if (code != SQLITE_OK || count != page_size || frame < log_header_size
      || (frame - log_header_size) % frame_size || (f->stale >= 0 && frame >= f->stale))
    return code;
  int is_right = 0;
  code = compare(file, bytes, frame, &is_right);
  return code != SQLITE_OK || is_right ? code : SQLITE_IOERR_DATA;
}

// Remembers which checksums are not right until the transaction ends.
static void note_write(File *f, int count, sqlite3_int64 at) {
  if (at == 0) {
    f->stale = f->header = f->newest = -1;
  } else if (count == frame_header_size && (at - log_header_size) % frame_size == 0) {
    f->header = at;
    if (f->stale == at && at <= f->newest) {
      f->stale = at == f->newest ? -1 : at + frame_size;
    } else {
      // After a rollback frames are written over those that it took back.
      if (at <= f->stale) f->stale = -1;
      f->newest = at;
    }
  } else if (count == page_size && (at - frame_header_size - log_header_size) % frame_size == 0) {
    sqlite3_int64 frame = at - frame_header_size;
    if (f->header != frame && (f->stale < 0 || frame < f->stale)) f->stale = frame;
    f->header = -1;
  }
}

// Keeps what continues the frames that are kept, or begins some: a new frame's header, or its page.
// 0 for anything else, which is to be written at once.
static int keep(File *f, const void *bytes, int count, sqlite3_int64 at) {
  int is_header = count == frame_header_size && at >= log_header_size
                  && (at - log_header_size) % frame_size == 0 && at > f->newest;
  int is_page = count == page_size && f->header == at - frame_header_size;
  if (f->kept_count > 0 ? at != f->kept_at + f->kept_count : !is_header) return 0;
  if (!(is_header || is_page) || f->kept_count + count > kept_limit) return 0;
  if (!f->kept && !(f->kept = malloc(kept_limit))) return 0;
  if (f->kept_count == 0) f->kept_at = at;
  memcpy(f->kept + f->kept_count, bytes, (size_t)count);
  f->kept_count += count;
  return 1;
}

// Whether the frames that are kept end with a page that ends a transaction.
static int ends_transaction(const File *f) {
  return f->kept_count % frame_size == 0 && big(f->kept + f->kept_count - frame_size + 4) != 0;
}

// A transaction's frames are written together where they follow each other: each call costs as much
// as the page that it writes.
static int log_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 at) {
  File *f = ours(file);
  int code = SQLITE_OK;
  if (!keep(f, bytes, count, at)) {
    code = write_kept(f);
    if (code == SQLITE_OK && !keep(f, bytes, count, at)) code = real_write(file, bytes, count, at);
  }
  if (f->kept_count > 0 && ends_transaction(f)) code = write_kept(f);
  if (code == SQLITE_OK) note_write(f, count, at);
  return code;
}

// Whether the salts of two headers are the same but for a changed bit or two. Those of the log before
// differ in about half of their 64 bits.
static int is_near(const uint8_t *salts, const uint8_t *others) {
  uint64_t a, b;
  memcpy(&a, salts, sizeof a);
  memcpy(&b, others, sizeof b);
  return __builtin_popcountll(a ^ b) <= 2;
}

// Looks at a log that is about to be recovered. SQLite ends it at the first frame that is wrong, as
// the writer may have been stopped there. But a transaction is on the disk before the next is
// written: where a later one follows, the frame was changed, and writes would be lost.
static int check_log(sqlite3_file *log) {
  uint8_t header[log_header_size], frame[frame_size], before[8];
  sqlite3_int64 size = 0;
  int code = file_size(log, &size);
  if (code != SQLITE_OK || size < log_header_size + frame_size) return code;
  code = real_read(log, header, sizeof header, 0);
  if (code != SQLITE_OK) return code;
  // A writer uses its own byte order for a log.
  int is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
  uint32_t sum[2] = {0, 0};
  add(sum, header, 24, is_big);
  int has_header = big(header) == (0x377f0682 | (uint32_t)is_big) && sum[0] == big(header + 24)
                   && sum[1] == big(header + 28);
  if (has_header && big(header + 8) != page_size) return SQLITE_OK;
  // Of the transaction that has the first wrong frame: whether its end was passed.
  int is_wrong = !has_header, has_ended = !has_header;
  memcpy(before, header + 24, sizeof before);
  for (sqlite3_int64 at = log_header_size; at + frame_size <= size; at += frame_size) {
    code = real_read(log, frame, frame_size, at);
    if (code != SQLITE_OK) return code;
    // Frames of the log before this one have other salts. Without a header these are unknown.
    int is_same = !has_header || memcmp(frame + 8, header + 16, 8) == 0;
    // Zeros continue zeros, but no frame is of page 0.
    int is_right = is_same && big(frame) != 0
                   && continues(before, frame, frame + frame_header_size, is_big);
    if (is_right && is_wrong && has_ended) return SQLITE_IOERR_DATA;
    is_wrong |= !is_right;
    if (is_wrong && is_near(frame + 8, header + 16) && big(frame + 4) != 0) has_ended = 1;
    memcpy(before, frame + 16, sizeof before);
  }
  return SQLITE_OK;
}

// MARK: What is handed on

static int close_file(sqlite3_file *file) {
  File *f = ours(file);
  if (f->other) f->other->other = 0;
  free(f->kept);
  return real(file)->pMethods->xClose(real(file));
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
  int code = write_kept(ours(file));
  return code != SQLITE_OK ? code : real(file)->pMethods->xTruncate(real(file), size);
}

static int sync_file(sqlite3_file *file, int flags) {
  int code = write_kept(ours(file));
  return code != SQLITE_OK ? code : real(file)->pMethods->xSync(real(file), flags);
}

static int lock(sqlite3_file *file, int level) {
  return real(file)->pMethods->xLock(real(file), level);
}

static int unlock(sqlite3_file *file, int level) {
  return real(file)->pMethods->xUnlock(real(file), level);
}

static int is_reserved(sqlite3_file *file, int *result) {
  return real(file)->pMethods->xCheckReservedLock(real(file), result);
}

static int control(sqlite3_file *file, int operation, void *argument) {
  if (operation == scan_operation) return scan(file, argument);
  return real(file)->pMethods->xFileControl(real(file), operation, argument);
}

static int sector_size(sqlite3_file *file) {
  return real(file)->pMethods->xSectorSize(real(file));
}

static int characteristics(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static int shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **found) {
  return real(file)->pMethods->xShmMap(real(file), region, size, extend, found);
}

static int shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  const sqlite3_io_methods *methods = real(file)->pMethods;
  int code = methods->xShmLock(real(file), offset, count, flags);
  File *log = ours(file)->other;
  // What a transaction left that was rolled back; another writer may write there now.
  if ((flags & SQLITE_SHM_UNLOCK) && offset == writing_slot && log) log->kept_count = 0;
  int recovers = flags == (SQLITE_SHM_LOCK | SQLITE_SHM_EXCLUSIVE) && offset <= recovery_slot
                 && recovery_slot < offset + count;
  if (code != SQLITE_OK || !recovers || !log) return code;
  code = check_log(&log->file);
  if (code != SQLITE_OK)
    methods->xShmLock(real(file), offset, count, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE);
  return code;
}

static void shm_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }

static int shm_unmap(sqlite3_file *file, int removes) {
  return real(file)->pMethods->xShmUnmap(real(file), removes);
}

// Version 2 has shared memory, but no mapping of the database: SQLite would read it past us.
static const sqlite3_io_methods database_methods = {
  2, close_file, database_read, database_write, truncate_file, sync_file, file_size, lock, unlock,
  is_reserved, control, sector_size, characteristics, shm_map, shm_lock, shm_barrier, shm_unmap,
  0, 0,
};

static const sqlite3_io_methods log_methods = {
  2, close_file, log_read, log_write, truncate_file, sync_file, file_size, lock, unlock,
  is_reserved, control, sector_size, characteristics, shm_map, shm_lock, shm_barrier, shm_unmap,
  0, 0,
};

static int open_file(
  sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags
) {
  (void)vfs;
  // Journals and temporary files are of one process's work on a file that has no name yet.
  if (!(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL)))
    return below->xOpen(below, name, file, flags, out_flags);
  File *f = ours(file);
  memset(f, 0, sizeof *f);
  f->header = f->newest = f->stale = -1;
  int code = below->xOpen(below, name, real(file), flags, out_flags);
  // Without methods SQLite does not close it.
  if (code != SQLITE_OK && !real(file)->pMethods) return code;
  if (flags & SQLITE_OPEN_WAL) {
    file->pMethods = &log_methods;
    sqlite3_file *database = code == SQLITE_OK ? sqlite3_database_file_object(name) : 0;
    if (database && database->pMethods == &database_methods) {
      f->other = ours(database);
      f->other->other = f;
    }
  } else {
    file->pMethods = &database_methods;
  }
  return code;
}

static sqlite3_vfs vfs;
static int registered = SQLITE_ERROR;

static void register_once(void) {
  // Fails where SQLite is in use already; Debian's takes URIs anyway.
  sqlite3_config(SQLITE_CONFIG_URI, 1);
  below = sqlite3_vfs_find(0);
  if (!below) return;
  // The functions of the VFS below recognise it by its data, which is the same.
  vfs = *below;
  vfs.pNext = 0;
  vfs.zName = ps_vfs_name;
  vfs.szOsFile = (int)sizeof(File) + below->szOsFile;
  vfs.xOpen = open_file;
  registered = sqlite3_vfs_register(&vfs, 0);
}

int ps_register(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_once);
  return registered;
}

int ps_reserve(sqlite3 *db) {
  int count = ps_checksum_size;
  return sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &count);
}

int ps_scan(sqlite3 *db, uint32_t *page) {
  return sqlite3_file_control(db, "main", scan_operation, page);
}

int ps_bind_blob(sqlite3_stmt *statement, int parameter, const void *bytes, int count) {
  // Null would be NULL.
  return sqlite3_bind_blob(statement, parameter, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

int ps_bind_text(sqlite3_stmt *statement, int parameter, const void *bytes, int count) {
  return sqlite3_bind_text(statement, parameter, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}
