#pragma once
// Giving a file its name without ever taking another file's: renameat2(2) (Linux 3.15).

// Renames within or between two open directories; RENAME_NOREPLACE. Returns 0 or an errno: EEXIST where the new name is
// taken, EINVAL where the file system can't do it.
int clinux_rename_keeping(int old_directory, const char *old_name, int new_directory, const char *new_name);
