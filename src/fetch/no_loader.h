/* SPDX-License-Identifier: MIT */
/*
 * dlopen and its relatives where the command is one piece: the linker sends whoever calls them here (--wrap), and names
 * them so. The C library's own would need its shared files of the very same version. Callable from any thread.
 */
#ifndef GAIT_FETCH_NO_LOADER_H
#define GAIT_FETCH_NO_LOADER_H

/* The client of debuginfod is there as if it were a library; all others are not: NULL. */
void *__wrap_dlopen(const char *path, int mode);
/* Functions of that client. NULL: there is none of that name; or the library is another one, or all that are loaded. */
void *__wrap_dlsym(void *library, const char *name);
int __wrap_dlclose(void *library);

#endif
