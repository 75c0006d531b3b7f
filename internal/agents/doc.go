// Package agents owns the catalogue of Agents and their processes: the Agents of the registry, the custom Agents of
// acp/custom-agents.json, the built-in Tour, detection, the capability cache and one process per Agent.
//
// A registry is fetched, and what is installed looked at, by one goroutine of the Pool in the background; what it knew
// last is on disk and there at once. Only Look makes it go out.
//
// A Pool is built by New and runs in Serve; until Serve runs, Connect waits. Each Agent that runs, or is about to
// run again, has one supervising goroutine, which alone starts, watches and stops its processes; everybody else
// reads the Agent's state under the Pool's mutex, waits for the attempt in flight, or tells the supervisor to end.
//
// A start that fails is reported to those who wait for it and not repeated by itself. A process that ends after it
// was ready is started again after 0, 500, 2000 and 5000 ms; a fifth failure in a row gives up until a user
// retries (R-AGT-056). Only exits are counted: what cannot be executed, speaks another protocol version or does
// not answer would not become better by repetition, so it ends the automatic restarts and the next Connect tries
// afresh. Ten seconds of being ready reset the count.
//
// The connection type is a parameter, so that this package knows processes and not the protocol. Env values of
// entries go to the child and nowhere else: not to logs, lists or errors; lines of standard error that are shown
// in an error are searched for them.
//
// At the end of Serve's context all children stop in parallel; nothing is left after 4 s.
package agents
