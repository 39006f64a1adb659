/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "syscalls/subject_texts.h"

#include "syscalls/names/constant_set.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

/* Bytes of a directory entry before its name, in both kinds of them: its length comes last of these. */
#define ENTRY_LENGTH_AT 16
#define ENTRY_MIN_BYTES 19

void file_text_put_mode(const struct call_text *text, uint32_t mode)
{
    const char *type = constant_set_name(SYSTEM_CALL_SET_file_type, mode & S_IFMT);

    if (type != NULL && text->out->style != CALL_TEXT_NAMES)
        call_text_put_octal(text, mode);
    if (type != NULL && text->out->style == CALL_TEXT_NUMBERS)
        return;
    if (type != NULL && text->out->style == CALL_TEXT_BOTH)
        text_put_string(text->out, " /* ");
    if (type != NULL) {
        text_format(text->out, "%s|", type);
        if ((mode & S_ISUID) != 0)
            text_put_string(text->out, "S_ISUID|");
        if ((mode & S_ISGID) != 0)
            text_put_string(text->out, "S_ISGID|");
        if ((mode & S_ISVTX) != 0)
            text_put_string(text->out, "S_ISVTX|");
        mode &= 0777U | (mode & ~0177777U);
    }
    call_text_put_octal(text, mode);
    if (type != NULL)
        call_text_end_name(text->out);
}

void file_text_put_open_flags(struct text_writer *out, uint64_t flags)
{
    bool is_first = false;
    char number[32];
    uint64_t rest;

    snprintf(number, sizeof(number), flags == 0 ? "0" : "%#lx", (unsigned long)flags);
    if (!call_text_begin_name(out, number))
        return;
    text_put_string(out, constant_set_name(SYSTEM_CALL_SET_open_access, flags & O_ACCMODE));
    rest = constant_set_put_bits(out, SYSTEM_CALL_SET_open, flags & ~(uint64_t)O_ACCMODE, &is_first);
    if (rest != 0)
        text_format(out, "|%#lx", (unsigned long)rest);
    call_text_end_name(out);
}

static bool is_device(uint32_t mode)
{
    return S_ISCHR(mode) || S_ISBLK(mode);
}

static void put_time(const struct call_text *text, const char *name, const struct timespec *time)
{
    text_format(text->out, ", st_%s=%ld", name, (long)time->tv_sec);
    time_text_put_date(text, time->tv_sec, time->tv_nsec);
    text_format(text->out, ", st_%s_nsec=%ld", name, (long)time->tv_nsec);
}

void file_text_put_stat(const struct call_text *text, const void *bytes)
{
    struct stat stat;

    memcpy(&stat, bytes, sizeof(stat));
    text_put_char(text->out, '{');
    if (text->options->is_verbose) {
        text_put_string(text->out, "st_dev=");
        call_text_put_device(text, stat.st_dev);
        text_format(text->out, ", st_ino=%lu, ", (unsigned long)stat.st_ino);
    }
    text_put_string(text->out, "st_mode=");
    file_text_put_mode(text, stat.st_mode);
    if (text->options->is_verbose)
        text_format(text->out, ", st_nlink=%lu, st_uid=%u, st_gid=%u, st_blksize=%lu, st_blocks=%lu",
                    (unsigned long)stat.st_nlink, stat.st_uid, stat.st_gid, (unsigned long)stat.st_blksize,
                    (unsigned long)stat.st_blocks);
    if (is_device(stat.st_mode)) {
        text_put_string(text->out, ", st_rdev=");
        call_text_put_device(text, stat.st_rdev);
    } else {
        text_format(text->out, ", st_size=%ld", (long)stat.st_size);
    }
    if (text->options->is_verbose) {
        put_time(text, "atime", &stat.st_atim);
        put_time(text, "mtime", &stat.st_mtim);
        put_time(text, "ctime", &stat.st_ctim);
    }
    text_put_string(text->out, text->options->is_verbose ? "}" : ", ...}");
}

void file_text_put_statx(const struct call_text *text, const void *bytes)
{
    struct statx statx;

    memcpy(&statx, bytes, sizeof(statx));
    text_put_string(text->out, "{stx_mask=");
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_statx_mask, statx.stx_mask);
    if (text->options->is_verbose)
        text_format(text->out, ", stx_blksize=%u", statx.stx_blksize);
    text_put_string(text->out, ", stx_attributes=");
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_statx_attributes, statx.stx_attributes);
    if (text->options->is_verbose)
        text_format(text->out, ", stx_nlink=%u, stx_uid=%u, stx_gid=%u", statx.stx_nlink, statx.stx_uid, statx.stx_gid);
    text_put_string(text->out, ", stx_mode=");
    file_text_put_mode(text, statx.stx_mode);
    if (text->options->is_verbose)
        text_format(text->out, ", stx_ino=%lu", (unsigned long)statx.stx_ino);
    text_format(text->out, ", stx_size=%lu", (unsigned long)statx.stx_size);
    text_put_string(text->out, ", ...}");
}

static void put_file_system_id(const struct call_text *text, const __fsid_t *id)
{
    text_put_string(text->out, ", f_fsid={val=[");
    call_text_put_hex(text, (uint32_t)id->__val[0]);
    text_put_string(text->out, ", ");
    call_text_put_hex(text, (uint32_t)id->__val[1]);
    text_put_string(text->out, "]}");
}

void file_text_put_statfs(const struct call_text *text, const void *bytes)
{
    struct statfs statfs;
    const char *type;

    memcpy(&statfs, bytes, sizeof(statfs));
    type = constant_set_name(SYSTEM_CALL_SET_fs_magic, (uint64_t)statfs.f_type);
    text_put_string(text->out, "{f_type=");
    if (type != NULL)
        text_put_string(text->out, type);
    else
        call_text_put_hex(text, (uint64_t)statfs.f_type);
    text_format(text->out, ", f_bsize=%lu, f_blocks=%lu, f_bfree=%lu, f_bavail=%lu, f_files=%lu, f_ffree=%lu",
                (unsigned long)statfs.f_bsize, (unsigned long)statfs.f_blocks, (unsigned long)statfs.f_bfree,
                (unsigned long)statfs.f_bavail, (unsigned long)statfs.f_files, (unsigned long)statfs.f_ffree);
    put_file_system_id(text, &statfs.f_fsid);
    text_format(text->out, ", f_namelen=%lu, f_frsize=%lu, f_flags=", (unsigned long)statfs.f_namelen,
                (unsigned long)statfs.f_frsize);
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_statfs_flags, (uint64_t)statfs.f_flags);
    text_put_char(text->out, '}');
}

void file_text_put_flock(const struct call_text *text, uint64_t address)
{
    struct flock lock;

    if (!call_text_read(text, address, &lock, sizeof(lock))) {
        call_text_put_address(text, address);
        return;
    }
    text_put_string(text->out, "{l_type=");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_lock_type, (uint16_t)lock.l_type);
    text_put_string(text->out, ", l_whence=");
    constant_set_put_choice(text->out, SYSTEM_CALL_SET_seek, (uint16_t)lock.l_whence);
    text_format(text->out, ", l_start=%ld, l_len=%ld", (long)lock.l_start, (long)lock.l_len);
    if (text->is_over)
        text_format(text->out, ", l_pid=%d", lock.l_pid);
    text_put_char(text->out, '}');
}

void file_text_put_open_how(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    struct open_how how;

    if (size_bytes < sizeof(how) || !call_text_read(text, address, &how, sizeof(how))) {
        call_text_put_address(text, address);
        return;
    }
    text_put_string(text->out, "{flags=");
    file_text_put_open_flags(text->out, how.flags);
    if ((how.flags & O_CREAT) != 0 || (how.flags & O_TMPFILE) == O_TMPFILE || how.mode != 0) {
        text_put_string(text->out, ", mode=");
        call_text_put_octal(text, how.mode);
    }
    text_put_string(text->out, ", resolve=");
    constant_set_put_flags(text->out, SYSTEM_CALL_SET_open_resolve, how.resolve);
    text_put_char(text->out, '}');
}

void file_text_put_entries(const struct call_text *text, uint64_t address, uint64_t size_bytes)
{
    uint64_t at = 0;
    unsigned count = 0;
    uint16_t length;

    while (at + ENTRY_MIN_BYTES <= size_bytes &&
           call_text_read(text, address + at + ENTRY_LENGTH_AT, &length, sizeof(length)) && length >= ENTRY_MIN_BYTES) {
        at += length;
        count++;
    }
    call_text_put_address(text, address);
    /* Where only a part of them was kept. */
    text_format(text->out, at < size_bytes ? " /* at least %u entries */" : " /* %u entries */", count);
}
