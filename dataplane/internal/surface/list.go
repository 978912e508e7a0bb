package surface

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/fault"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// Kept lists what a workspace has made, the newest first.
type Kept interface {
	List(ctx context.Context, ws id.Workspace, s catalog.Surface) ([]string, error)
}

const (
	listDefault = 20
	listMost    = 100
	// listAtOnce is how many entries of one page are asked for at a time.
	listAtOnce = 4
)

// keptPage is one page of a list, as OpenAI's clients read it.
type keptPage struct {
	Object  string            `json:"object"`
	Data    []json.RawMessage `json:"data"`
	FirstID *string           `json:"first_id"`
	LastID  *string           `json:"last_id"`
	HasMore bool              `json:"has_more"`
}

// listKept answers with a page of what the workspace made on a surface. The
// provider's own list shows what everybody made with its credential, so each
// entry is asked for by itself, like any other call about it.
func (e *Edge) listKept(row *row) func(*asked) (any, error) {
	one := e.oneOf(row)
	return func(a *asked) (any, error) {
		limit, err := listLimit(a.gin.Query("limit"))
		if err != nil {
			return nil, err
		}
		ctx := a.gin.Request.Context()
		names, err := e.deps.Kept.List(ctx, a.principal.Key.Workspace, row.surface)
		if err != nil {
			return nil, err
		}
		if after := a.gin.Query("after"); after != "" {
			i := slices.Index(names, after)
			if i < 0 {
				return nil, fault.Invalid(fault.Violation{Path: "after", Code: "unknown", Message: "must be an id from the list"})
			}
			names = names[i+1:]
		}
		return e.page(ctx, a, one, names, limit)
	}
}

// page fills a page from names, which may have more of them that are gone than
// the page has room: clients take an empty page for the end. The first one that is
// asked for is what the call counts as, and a limit that refuses it refuses the
// list; the others are the gateway's own.
func (e *Edge) page(ctx context.Context, a *asked, one *row, names []string, limit int) (keptPage, error) {
	page := keptPage{Object: "list", Data: []json.RawMessage{}}
	for first := true; len(names) > 0 && len(page.Data) < limit && ctx.Err() == nil; first = false {
		n := min(limit-len(page.Data), len(names))
		if first {
			n = 1
		}
		entries, refusal := e.entries(ctx, a, one, names[:n], first)
		if refusal != nil {
			return page, refusal
		}
		for i, entry := range entries {
			if entry == nil {
				continue
			}
			page.Data = append(page.Data, entry)
			if page.FirstID == nil {
				page.FirstID = &names[i]
			}
			page.LastID = &names[i]
		}
		names = names[n:]
	}
	page.HasMore = len(names) > 0
	return page, nil
}

// oneOf is the row that gets one entry of a list.
func (e *Edge) oneOf(list *row) *row {
	for i := range table {
		if table[i].surface == list.surface && table[i].action == call.Get {
			return &table[i]
		}
	}
	return list
}

// entries asks for the entries of names. One that is gone, or is of a model
// that the key may not use, is nil; one that cannot be had now is there with
// its id alone. The refusal is a limit's, where they count.
func (e *Edge) entries(ctx context.Context, a *asked, one *row, names []string, count bool) ([]json.RawMessage, error) {
	if count {
		entry, refusal := e.entry(ctx, a, one, names[0], true)
		if limited(refusal) {
			return nil, refusal
		}
		return []json.RawMessage{entry}, nil
	}
	found := make([]json.RawMessage, len(names))
	slots := make(chan struct{}, listAtOnce)
	var asking sync.WaitGroup
	for i, name := range names {
		slots <- struct{}{}
		asking.Go(func() {
			defer func() { <-slots }()
			found[i], _ = e.entry(ctx, a, one, name, false)
		})
	}
	asking.Wait()
	return found, nil
}

// limited reports the refusal of a limit.
func limited(failure *fault.Error) bool {
	if failure == nil {
		return false
	}
	switch failure.Code {
	case fault.RateLimitExceeded, fault.KeyLimitExceeded, fault.QuotaUnavailable:
		return failure.Origin == fault.Gateway
	default:
		return false
	}
}

// listing is what the further calls for one list are logged under.
const listing = "list"

// entry asks for one entry. It counts as the caller's call, or as the gateway's
// within it. The failure is why it could not be had.
func (e *Edge) entry(ctx context.Context, a *asked, one *row, name string, counts bool) (json.RawMessage, *fault.Error) {
	c := e.newCall(a.gin.Request, one.method+" "+one.path)
	c.Token, c.Surface, c.Action, c.Object, c.Kept = a.call.Token, one.surface, call.Get, name, one.surface
	if !counts {
		c.Purpose, c.Primary = listing, a.call.ID
	}
	kept := &keptSink{}
	e.deps.Pipeline.Serve(ctx, &c, kept)
	switch {
	case kept.status == http.StatusNotFound:
		return nil, kept.failure
	case kept.status == http.StatusOK && json.Valid(kept.body):
		return kept.body, nil
	}
	entry, err := json.Marshal(struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	}{name, "unknown"})
	if err != nil { // strings always marshal
		return nil, kept.failure
	}
	return entry, kept.failure
}

func listLimit(text string) (int, error) {
	if text == "" {
		return listDefault, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > listMost {
		return 0, fault.Invalid(fault.Violation{Path: "limit", Code: "out_of_range", Message: "must be a whole number from 1 to 100"})
	}
	return n, nil
}

// keptSink takes one entry of a list. It implements call.Sink.
type keptSink struct {
	status  int
	body    []byte
	failure *fault.Error
}

// Start implements call.Sink.
func (k *keptSink) Start(head call.Head) error { k.status = head.Status; return nil }

// Write implements call.Sink.
func (k *keptSink) Write(p []byte) error { k.body = append(k.body, p...); return nil }

// Fail implements call.Sink.
func (k *keptSink) Fail(failure *fault.Error, _ http.Header) {
	k.status, k.failure = http.StatusBadGateway, failure
	if failure.Code == fault.NotFound || failure.Reason == fault.ModelNotAllowed {
		k.status = http.StatusNotFound
	}
}

// Started implements call.Sink.
func (k *keptSink) Started() bool { return k.status != 0 }

// Status implements call.Sink.
func (k *keptSink) Status() int { return k.status }
