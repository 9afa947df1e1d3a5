#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "CPushFiles.h"

struct pf_gzip {
  z_stream stream;
  // Whether a member has begun that has not ended.
  bool inside;
  // Whether a member has ended.
  bool any;
  // Whether zeros follow the last member, behind which there may be nothing else.
  bool padded;
};

pf_gzip *pf_gzip_create(void) {
  pf_gzip *gzip = calloc(1, sizeof *gzip);
  // 16: expect a gzip header, nothing else.
  if (gzip && inflateInit2(&gzip->stream, 15 + 16) != Z_OK) {
    free(gzip);
    return NULL;
  }
  return gzip;
}

void pf_gzip_destroy(pf_gzip *gzip) {
  inflateEnd(&gzip->stream);
  free(gzip);
}

pf_gzip_status pf_gzip_inflate(
  pf_gzip *gzip, const uint8_t *input, size_t input_length, size_t *input_used, uint8_t *output,
  size_t output_length, size_t *output_used) {
  z_stream *stream = &gzip->stream;
  stream->next_in = (Bytef *)input;
  stream->avail_in = (uInt)input_length;
  stream->next_out = output;
  stream->avail_out = (uInt)output_length;
  pf_gzip_status status = PF_GZIP_MORE;
  while (stream->avail_out > 0) {
    if (!gzip->inside) {
      if (stream->avail_in == 0) {
        if (gzip->any) status = PF_GZIP_AT_END;
        break;
      }
      if (gzip->any && (gzip->padded || *stream->next_in == 0)) {
        gzip->padded = true;
        for (; stream->avail_in > 0 && *stream->next_in == 0; stream->avail_in--) stream->next_in++;
        status = stream->avail_in > 0 ? PF_GZIP_TRAILING : PF_GZIP_AT_END;
        break;
      }
      if (gzip->any) inflateReset(stream);
      gzip->inside = true;
    }
    // Also without input: what was unpacked may not have fitted into the last output.
    int result = inflate(stream, Z_NO_FLUSH);
    if (result == Z_STREAM_END) {
      gzip->inside = false;
      gzip->any = true;
    } else if (result == Z_BUF_ERROR) {
      break;
    } else if (result == Z_MEM_ERROR) {
      status = PF_GZIP_NO_MEMORY;
      break;
    } else if (result != Z_OK) {
      bool no_header = stream->msg && strcmp(stream->msg, "incorrect header check") == 0;
      status = !no_header ? PF_GZIP_CORRUPT : gzip->any ? PF_GZIP_TRAILING : PF_GZIP_NOT_GZIP;
      break;
    }
  }
  *input_used = input_length - stream->avail_in;
  *output_used = output_length - stream->avail_out;
  return status;
}
