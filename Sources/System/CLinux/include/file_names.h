#pragma once
// Giving a file its name without ever taking another file's: renameat2(2) (Linux 3.15).

// Renames within or between two open directories: with RENAME_NOREPLACE, or with a second link where the file system
// lacks that; those of memory sticks have no links. Returns 0 or an errno: EEXIST where the new name is taken.
int clinux_rename_keeping(int old_directory, const char *old_name, int new_directory, const char *new_name);
