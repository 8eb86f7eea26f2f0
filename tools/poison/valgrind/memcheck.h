/*
 * PostgreSQL tells valgrind which chunks of its memory contexts are in use.  Here the address sanitizer is told instead;
 * tools/watch.sh says of which server this header is a part, in the place of valgrind's.
 */
#ifndef KANON_POISON_MEMCHECK_H
#define KANON_POISON_MEMCHECK_H
#ifdef __SANITIZE_ADDRESS__
#include <stddef.h>
extern void __asan_poison_memory_region(void const volatile *addr, size_t size);
extern void __asan_unpoison_memory_region(void const volatile *addr, size_t size);
#define VALGRIND_MAKE_MEM_NOACCESS(a, n) __asan_poison_memory_region((a), (n))
#define VALGRIND_MAKE_MEM_DEFINED(a, n) __asan_unpoison_memory_region((a), (n))
#define VALGRIND_MAKE_MEM_UNDEFINED(a, n) __asan_unpoison_memory_region((a), (n))
#define VALGRIND_MEMPOOL_ALLOC(p, a, n) __asan_unpoison_memory_region((a), (n))
#define VALGRIND_MEMPOOL_CHANGE(p, o, a, n) __asan_unpoison_memory_region((a), (n))
#else
#define VALGRIND_MAKE_MEM_NOACCESS(a, n) do {} while (0)
#define VALGRIND_MAKE_MEM_DEFINED(a, n) do {} while (0)
#define VALGRIND_MAKE_MEM_UNDEFINED(a, n) do {} while (0)
#define VALGRIND_MEMPOOL_ALLOC(p, a, n) do {} while (0)
#define VALGRIND_MEMPOOL_CHANGE(p, o, a, n) do {} while (0)
#endif
#define VALGRIND_CHECK_MEM_IS_DEFINED(a, n) do {} while (0)
#define VALGRIND_CREATE_MEMPOOL(p, r, z) do {} while (0)
#define VALGRIND_DESTROY_MEMPOOL(p) do {} while (0)
#define VALGRIND_MEMPOOL_FREE(p, a) do {} while (0)
#define VALGRIND_MEMPOOL_TRIM(p, a, n) do {} while (0)
#define VALGRIND_COUNT_ERRORS 0
#define VALGRIND_PRINTF(...) do {} while (0)
#define VALGRIND_DO_LEAK_CHECK do {} while (0)
#define RUNNING_ON_VALGRIND 0
#define VALGRIND_GET_VBITS(a, v, n) 0
#endif
