package translate

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/preset/merge"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// What a record says of a preset's parameters is bounded.
const (
	mostUnplaced    = 32
	longestUnplaced = 64 // bytes of a name; the control plane takes no longer ones
)

// Adds is what routing has to count of what Merge adds to c. A parameter that the
// body has already is among them all the same.
func Adds(c *call.Call, with *policy.PresetVersion) decide.Added {
	if c.Action != call.Generate && c.Action != call.Count {
		return decide.Added{}
	}
	into := intoOf(c)
	if into.Form {
		return decide.Added{}
	}
	added := merge.AddedBy(into.Surface, &with.Config)
	if into.Count { // there is no output, and it takes hardly any parameter
		return decide.Added{InputTokens: added.InputTokens}
	}
	return decide.Added(added)
}

// intoOf is where a preset goes in c.
func intoOf(c *call.Call) merge.Into {
	return merge.Into{
		Surface: c.Surface, Count: c.Action == call.Count,
		Form: c.Form != "" || c.Surface == catalog.Realtime, // which has no body at all
	}
}

// Merge returns c as a preset completes it: its body, in the caller's format, and
// the estimates that go by it. unplaced names what the surface has no place for,
// as in "preset.seed". c itself stays as it is.
func (t *Translator) Merge(c call.Call, with *policy.PresetVersion) (merged call.Call, unplaced []string, failure *upstream.Failure) {
	if c.Action != call.Generate && c.Action != call.Count {
		return c, nil, nil
	}
	body, lost, err := merge.Apply(intoOf(&c), c.Body, &with.Config)
	if err != nil {
		return c, nil, notAnObject(err)
	}
	for _, name := range lost[:min(len(lost), mostUnplaced)] {
		unplaced = append(unplaced, "preset."+name[:min(len(name), longestUnplaced)])
	}
	c.Body = body
	added := Adds(&c, with)
	if c.Request.InputTokens > 0 {
		c.Request.InputTokens += added.InputTokens
	}
	if c.Request.OutputTokens == 0 {
		c.Request.OutputTokens = added.OutputTokens
	}
	return c, unplaced, nil
}
