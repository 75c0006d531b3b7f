//go:build unix

package main

import "golang.org/x/sys/unix"

// freeSpace returns the bytes that the user can still write on the file system of dir.
func freeSpace(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return st.Bavail * uint64(st.Bsize), nil //nolint:gosec // a block size is positive
}
