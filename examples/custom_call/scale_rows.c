/* A custom call in C: result[i, j] = operand0[i, j] * operand1[i], all f32.
 *
 *   cc -shared -fPIC -O2 -I PREFIX/include scale_rows.c -o scale_rows.so
 *   hilo run scale_rows.hlo --custom-call scale_rows=./scale_rows.so
 */
#include <hilo/eval/custom_call_abi.h>
#include <stdio.h>

enum { f32 = 11 };

int scale_rows(const HiloCustomCall* call) {
  if (call->operand_count != 2 || call->result_count != 1 ||
      call->operands[0].element_type != f32 || call->operands[0].rank != 2 ||
      call->operands[1].element_type != f32 || call->operands[1].rank != 1 ||
      call->operands[1].dims[0] != call->operands[0].dims[0] ||
      call->results[0].bytes != call->operands[0].bytes) {
    snprintf(call->message, call->message_bytes, "expected f32[n,m], f32[n] and a result f32[n,m]");
    return 1;
  }
  const float *values = call->operands[0].data, *scales = call->operands[1].data;
  float* out = call->results[0].data;
  const int64_t rows = call->operands[0].dims[0], columns = call->operands[0].dims[1];
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      out[i * columns + j] = values[i * columns + j] * scales[i];
  return 0;
}
