package translate

import (
	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/dataplane/internal/preset/merge"
	"github.com/signalbox-dev/signalbox/dataplane/internal/upstream"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/policy"
)

// What a record says of a preset's parameters is bounded.
const (
	mostUnplaced    = 32
	longestUnplaced = 64 // bytes of a name; the control plane takes no longer ones
)

// Merge returns c as a preset completes it: its body, in the caller's format, and
// the estimates that go by it. unplaced names what the surface has no place for,
// as in "preset.seed". c itself stays as it is.
func (t *Translator) Merge(c call.Call, with *policy.PresetVersion) (merged call.Call, unplaced []string, failure *upstream.Failure) {
	if c.Action != call.Generate && c.Action != call.Count {
		return c, nil, nil
	}
	to := merge.Into{
		Surface: c.Surface, Count: c.Action == call.Count,
		Form: c.Form != "" || c.Surface == catalog.Realtime, // which has no body at all
	}
	body, lost, err := merge.Apply(to, c.Body, &with.Config)
	if err != nil {
		return c, nil, notAnObject(err)
	}
	for _, name := range lost[:min(len(lost), mostUnplaced)] {
		unplaced = append(unplaced, "preset."+name[:min(len(name), longestUnplaced)])
	}
	c.Body = body
	added := merge.AddedBy(c.Surface, &with.Config)
	if c.Request.InputTokens > 0 {
		c.Request.InputTokens += added.InputTokens
	}
	if c.Request.OutputTokens == 0 {
		c.Request.OutputTokens = added.OutputTokens
	}
	return c, unplaced, nil
}
