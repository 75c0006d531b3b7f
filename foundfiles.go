package fyllo

// FoundFiles are the files that fit a query, best first: at most 50 paths with forward slashes, relative to their
// directory. With several directories each begins with the name of its Project. Capped tells that a search met its limits
// before it had seen all.
type FoundFiles struct {
	Paths  []string `json:"paths"`
	Capped bool     `json:"capped"`
}
