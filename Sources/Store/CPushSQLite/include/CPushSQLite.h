// SQLite, and a VFS of our own for stores: a checksum in each page of the database, and in each
// frame of the log, is compared whenever the page is read.
#ifndef CPUSHSQLITE_H
#define CPUSHSQLITE_H

#include <sqlite3.h>
#include <stdint.h>

enum {
  // Bytes of a page of a store, and of the checksum at its end.
  ps_page_size = 4096,
  ps_checksum_size = 8,
};

// The name of the VFS.
extern const char *const ps_vfs_name;

// Registers the VFS, once; it is never the default. Returns a result code of SQLite.
int ps_register(void);

// Makes room for the checksums in a database that is new.
int ps_reserve(sqlite3 *db);

// The checksum of a page without its last 8 bytes, in which the page's number has part. The first
// page is 1.
uint64_t ps_checksum(const uint8_t *page, uint32_t number);

// Whether the last 8 bytes of a page are its checksum.
int ps_is_right(const uint8_t *page, uint32_t number);

// Compares every page of the file, free ones too, with its checksum. `page` becomes the first that
// is wrong, 0 for none. Returns a result code.
int ps_scan(sqlite3 *db, uint32_t *page);

// How many bytes of stores and their logs this process has read and written so far.
uint64_t ps_moved_bytes(void);

// sqlite3_bind_blob and sqlite3_bind_text with bytes that are copied. No bytes are an empty value.
int ps_bind_blob(sqlite3_stmt *statement, int parameter, const void *bytes, int count);
int ps_bind_text(sqlite3_stmt *statement, int parameter, const void *bytes, int count);

#endif
