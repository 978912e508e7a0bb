// Package classify owns what kinds of work a request can be, and a
// deterministic classifier that tells them from bounded features of the text.
// It is pure: the same text gives the same answer, in a time that the bounds
// of Text limit. It knows nothing of models, formats or transport.
package classify

// Workload is a kind of work.
type Workload uint8

// The workloads, in the order of every table over them.
const (
	Code Workload = iota
	Reasoning
	ToolUse
	Structured
	Translation
	Summarization
	General
	Count int = iota // how many there are
)

var names = [Count]string{"code", "reasoning", "tool_use", "structured", "translation", "summarization", "general"}

// String is the workload's name in records, errors and a model's answer.
func (w Workload) String() string { return names[w] }

// Parse finds a workload by its name.
func Parse(name string) (Workload, bool) {
	for i, n := range names {
		if n == name {
			return Workload(i), true
		}
	}
	return 0, false
}

// Mix is how much of each workload a request is: shares from 0 to 1 that add
// up to 1.
type Mix [Count]float64

// Primary is the workload with the largest share; of equals, the first.
func (m Mix) Primary() Workload {
	best := Workload(0)
	for w := range m {
		if m[w] > m[best] {
			best = Workload(w)
		}
	}
	return best
}

// least is the smallest share that is kept: less is noise.
const least = 0.05

// shared turns weights that are not negative into shares. Nothing at all is
// general work.
func (m Mix) shared() Mix {
	total := 0.0
	for _, v := range m {
		total += v
	}
	if !(total > 0) {
		var only Mix
		only[General] = 1
		return only
	}
	kept := 0.0
	for w := range m {
		m[w] /= total
		if m[w] < least {
			m[w] = 0
		}
		kept += m[w]
	}
	for w := range m {
		m[w] /= kept
	}
	return m
}

// Result is what a classifier says of a request.
type Result struct {
	Mix        Mix
	Complexity float64 // 0 trivial to 1 as hard as it gets
	Confidence float64 // 0 a guess to 1 certain
}

// hardShare is what the facts count for that need no guess: tools that were
// offered, a form of output that was demanded. A request with tools may still
// be about code, so the rest is left to what its text says.
const hardShare = 0.6

// WithFacts lays the trusted facts over a result: of whatever a classifier
// said, they have hardShare at least, in equal parts, and the rest shares what
// is left. The mix that comes out is sound whatever was said.
func (r Result) WithFacts(tools, structured bool) Result {
	r.Mix = r.Mix.sound()
	hard := [Count]bool{ToolUse: tools, Structured: structured}
	parts := 0.0
	for _, is := range hard {
		if is {
			parts++
		}
	}
	if parts == 0 {
		return r
	}
	floor := hardShare / parts
	above, soft := 0.0, 0.0 // what was said of the facts beyond their floor, and of the rest
	for w, share := range r.Mix {
		if hard[w] {
			above += max(0, share-floor)
		} else {
			soft += share
		}
	}
	// The floors leave this much: first to what was said of the facts, as a mix
	// that is all of one of them stays so as far as the other's floor allows.
	const room = 1 - hardShare
	kept := min(above, room)
	for w, share := range r.Mix {
		switch {
		case !hard[w] && soft > 0:
			r.Mix[w] = share / soft * (room - kept)
		case hard[w] && above > 0:
			r.Mix[w] = floor + max(0, share-floor)/above*kept
		case hard[w]:
			r.Mix[w] = floor
		}
	}
	if soft <= 0 {
		r.Mix[General] += room - kept
	}
	return r
}

// sound makes shares of whatever numbers a mix holds.
func (m Mix) sound() Mix {
	total := 0.0
	for w, share := range m {
		if !(share > 0) { // nor is it a number
			share = 0
		}
		m[w] = min(share, 1)
		total += m[w]
	}
	if total <= 0 {
		var only Mix
		only[General] = 1
		return only
	}
	for w := range m {
		m[w] /= total
	}
	return m
}
