package transcript

import "fyllocode.dev/fyllo"

// PartID returns the id of the part at index i without building the part: the publisher of a flood asks for it
// with every chunk.
func (l *Live) PartID(i int) string { return l.parts[i].id }

// PartType returns the type of the part at index i.
func (l *Live) PartType(i int) fyllo.PartType { return l.parts[i].kind }
