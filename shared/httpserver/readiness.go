package httpserver

// Readiness is what /readyz?verbose of every process answers, as JSON. A
// process may add members of its own beside these.
type Readiness struct {
	Ready  bool          `json:"ready"`
	Checks []CheckResult `json:"checks"`
}

// CheckResult is the outcome of one thing that readiness looks at.
type CheckResult struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Required checks make the process unready when they fail; the others are
	// only reported.
	Required bool `json:"required"`
	// Detail is a few words for an operator. They are shown to anyone who can
	// reach the port.
	Detail string `json:"detail"`
}
