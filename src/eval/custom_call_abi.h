/* The C interface of a custom call from outside: `hilo run --custom-call TARGET=lib.so`.
 *
 * The library exports one function, named as the target with every character that C does not allow
 * in names replaced by '_', or else `hilo_custom_call`:
 *
 *   int hilo_custom_call(const HiloCustomCall *call);
 *
 * It returns 0, or another number after it wrote why into call->message. It must fill all bytes of
 * all results, and may be called from several threads at once.
 *
 * Arrays are dense in row-major order, whatever layout the module states; elements narrower than a
 * byte take one byte each; pred is one byte, 0 or 1. Tuples are flattened to their leaves; tokens
 * have no bytes. Element types have the numbers of xla_data.proto (F32 is 11, S32 is 4, ...).
 * Sizes in bytes; pointers are valid during the call only. */
#ifndef HILO_CUSTOM_CALL_ABI_H
#define HILO_CUSTOM_CALL_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HILO_CUSTOM_CALL_VERSION 1

typedef struct HiloArray {
  int32_t element_type;
  int32_t rank;
  const int64_t* dims; /* rank of them */
  void* data;          /* operands: to be read only */
  int64_t bytes;
} HiloArray;

typedef struct HiloCustomCall {
  uint32_t version; /* HILO_CUSTOM_CALL_VERSION of the caller; later ones only append fields */
  uint32_t reserved;
  const char* target;         /* ends with 0 */
  const char* backend_config; /* as the module states it, unquoted; ends with 0 */
  int64_t operand_count;
  const HiloArray* operands;
  int64_t result_count;
  const HiloArray* results;
  char* message; /* room for message_bytes, the ending 0 included */
  size_t message_bytes;
} HiloCustomCall;

typedef int (*HiloCustomCallFunction)(const HiloCustomCall* call);

#ifdef __cplusplus
}
#endif
#endif /* HILO_CUSTOM_CALL_ABI_H */
