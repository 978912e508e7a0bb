package affinity

import (
	"encoding/hex"
	"strings"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/decide"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Name is what a conversation's pins are kept by: the workspace, and a keyed
// hash of it and of what the conversation is recognized by. Two workspaces
// never have a name in common, whatever their callers send.
type Name struct {
	Workspace id.Workspace
	Digest    [16]byte
}

// String is the name as a key of the bucket.
func (n Name) String() string { return n.Workspace.String() + "." + hex.EncodeToString(n.Digest[:]) }

// ParseName reads a key of the bucket; false says that it is none.
func ParseName(key string) (Name, bool) {
	ws, digest, _ := strings.Cut(key, ".")
	workspace, err := id.Parse[id.WorkspaceKind](ws)
	n := Name{Workspace: workspace}
	if err != nil || len(digest) != 2*len(n.Digest) {
		return Name{}, false
	}
	if _, err := hex.Decode(n.Digest[:], []byte(digest)); err != nil {
		return Name{}, false
	}
	return n, n.String() == key
}

// recognize finds what a call's conversation is known by. rules say what may be
// used for it. The second result is false when there is nothing.
func (p *Pins) recognize(c *call.Call, rules decide.AffinityRules) (call.Conversation, bool) {
	var conv call.Conversation
	q := &c.Request
	if !rules.CacheAware || c.Action != call.Generate {
		return conv, false
	}
	by := ""
	switch {
	case rules.Session && q.SessionID != "":
		conv.Source, conv.Sure, by = decide.FromSession, true, q.SessionID
	case q.Caching.Key != "":
		conv.Source, conv.Sure, by = decide.FromCacheKey, true, q.Caching.Key
	case len(q.Caching.Opening.Turns) > 0:
		conv.Source, conv.Sure, by = decide.FromOpening, q.Caching.Marked, q.Model
	default:
		return conv, false
	}
	digests := p.digests.Load()
	of := digests.Get().(*digest)
	defer digests.Put(of)
	of.reset()
	ws := c.Workspace.UUID()
	of.buf = append(of.buf, ws[:]...)
	of.name(string(conv.Source))
	of.name(by)
	if conv.Source == decide.FromOpening {
		of.opening(&q.Caching.Opening)
	}
	// One part of the sum names the pins, the other goes to the provider, so that
	// who sees the one cannot find the other.
	sum := of.end()
	copy(conv.Name[:], sum)
	copy(conv.Hint[:], sum[len(conv.Name):])
	return conv, true
}
