// Package installed knows which registry Agents are on this machine: what npm, uv and the programs themselves say,
// and what is remembered of it (R-AGT-030…033).
package installed
