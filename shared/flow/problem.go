package flow

import "fmt"

// Problem is one thing wrong with a graph, or worth a second look. Its text
// names nodes and fields and prints sums, and repeats nothing else that was
// submitted.
type Problem struct {
	Node    string // id of the node; "" for what is wrong with the whole, or where the id is no good
	Path    string // such as nodes[3].branches[1].percent; "" for the whole
	Code    string
	Message string
}

// The codes of problems.
const (
	Required    = "required"
	Malformed   = "malformed"
	WrongType   = "wrong_type"
	UnknownName = "unknown_field"
	Duplicate   = "duplicate"
	TooLong     = "too_long"
	OutOfRange  = "out_of_range"
	NotAllowed  = "not_allowed"
	Misplaced   = "misplaced_field" // of another type of node
	Dangling    = "dangling_output"
	Unreachable = "unreachable_node"
	Cycle       = "cycle"
	Sum         = "percent_sum"
	NotFound    = "not_found" // a model, provider or region that there is none of
	Ambiguous   = "ambiguous"
	Disabled    = "disabled"
)

// The codes of warnings.
const (
	DeprecatedModel = "deprecated_model"
	RetiredModel    = "retired_model"
	Constant        = "constant_condition" // always true or always false
	PrivatePreset   = "private_preset"
	NoTraffic       = "no_traffic"      // a branch of 0 %
	AlwaysRejects   = "always_rejects"  // a branch of 100 % that leads to a reject
	AlwaysExceeded  = "always_exceeded" // a limit of 0
)

// Report is everything that a check found.
type Report struct {
	Problems []Problem // the graph cannot be saved
	Warnings []Problem // it can
}

// OK reports whether there is no problem.
func (r Report) OK() bool { return len(r.Problems) == 0 }

// Standing is what is known of a model, a provider or a region that a graph
// names.
type Standing uint8

// The standings.
const (
	Known       Standing = iota
	Missing              // there is none of this name
	BadName              // it cannot be a name
	Unclear              // the name stands for several
	SwitchedOff          // a provider that is not enabled
	Deprecates           // a model that goes; it is served as ever
	Retires              // a model that is gone
	Undeployed           // a preset without a deployed version, or one that was archived
	Confined             // a preset that is there for the keys of who created it alone
)

// Names is what a check asks of the world outside the graph.
type Names interface {
	// Model looks a model up by its id, its alias or its bare name, with a
	// provider before it and a suffix where it has them, or by @preset[#version].
	// It is not asked for signalbox/auto and signalbox/free.
	Model(name string) Standing
	// Provider looks a provider up by its slug.
	Provider(slug string) Standing
	// Region looks a region up that a provider or an endpoint may be in.
	Region(name string) Standing
	// Surfaces lists what the source endpoint may be.
	Surfaces() []string
}

func problemf(node, path, code, format string, args ...any) Problem {
	return Problem{Node: node, Path: path, Code: code, Message: fmt.Sprintf(format, args...)}
}
