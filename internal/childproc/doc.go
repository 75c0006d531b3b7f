// Package childproc runs child processes that never outlive the process that started them.
//
// A Host owns the children. Each child leads a process group of its own, has its standard input and output as
// pipes, the end of its standard error in memory (64 KiB) and a private temporary directory, which goes away with
// it. When the leader ends, for whatever reason, the rest of its group is killed before the leader is reaped, so
// the group id cannot belong to somebody else and no grandchild stays behind.
//
// Stop goes down a ladder: end standard input, wait, SIGTERM to the group, wait, SIGKILL to the group, reap.
//
// When the owning process itself is killed with SIGKILL, two things end the children. On Linux the kernel kills
// each leader (parent-death signal; it belongs to the thread that forked, so all forks happen on one thread that
// lives as long as the Host). On every system a guard, the same program started with another argument, holds the
// read end of a pipe: at its end it terminates all registered groups, grandchildren included. It runs and knows the
// private directory of a child before the child starts, so that on Linux also the grandchildren of one are found whose
// group it could not be told any more.
//
// A process that left its group on purpose, as the shells of many Agents do, is killed with the rest where it can be
// found: on Linux by the child's private temporary directory in its environment. Elsewhere, and where it hides the
// variable or the child has no such directory, it stays.
//
// Order and limits: what a child wrote before it ended can be read after Exited is closed, to the end of the
// pipe. A grandchild that left the group and still holds the pipe does not keep the reader waiting.
package childproc
