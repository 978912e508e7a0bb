package cli

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// serverPage is the most that a page of the API holds.
const serverPage = 250

// page is one page of a list as the API gives it.
type page struct {
	Data       []json.RawMessage `json:"data"`
	NextCursor *string           `json:"next_cursor"`
}

// pages fetches up to limit entries (0 for all) over as many pages as that
// takes. It returns them as one body, and read as T.
func pages[T any](limit int, fetch func(cursor *string, size int) (answer, error)) (body []byte, items []T, err error) {
	whole := page{Data: []json.RawMessage{}}
	for {
		size := serverPage
		if limit > 0 {
			size = min(size, limit-len(whole.Data))
		}
		r, err := fetch(whole.NextCursor, size)
		if err := done(r, err); err != nil {
			return nil, nil, err
		}
		var next page
		if err := json.Unmarshal(r.GetBody(), &next); err != nil {
			return nil, nil, fmt.Errorf("the server's answer is not a list: %w", err)
		}
		whole.Data, whole.NextCursor = append(whole.Data, next.Data...), next.NextCursor
		if next.NextCursor == nil || (limit > 0 && len(whole.Data) >= limit) {
			break
		}
	}
	if body, err = json.Marshal(whole); err != nil {
		return nil, nil, err
	}
	items, err = readAll[T](whole.Data)
	return body, items, err
}

func readAll[T any](raw []json.RawMessage) ([]T, error) {
	items := make([]T, len(raw))
	for i, r := range raw {
		if err := json.Unmarshal(r, &items[i]); err != nil {
			return nil, fmt.Errorf("the server's answer is not readable: %w", err)
		}
	}
	return items, nil
}

// limitFlag adds --limit.
func limitFlag(c *cobra.Command) *int {
	return c.Flags().Int("limit", 50, "how many entries to show at most; 0 shows all")
}

// change are the flags of every command that changes something.
type change struct {
	wait           time.Duration
	idempotencyKey string // as given, else one of this invocation alone
}

func changeFlags(c *cobra.Command) *change {
	var f change
	c.Flags().DurationVar(&f.wait, "wait", 0, "wait this long, at most 30s, until every gateway has applied the change")
	c.Flags().StringVar(&f.idempotencyKey, "idempotency-key", "", "makes it safe to repeat the command within 24 hours")
	return &f
}

// waitFor is --wait as the API reads it, nil when not given.
func (f *change) waitFor() *string {
	if f.wait <= 0 {
		return nil
	}
	text := fmt.Sprintf("%dms", f.wait.Milliseconds())
	return &text
}

// key is --idempotency-key, else one of this invocation's own: what sends the call
// again, when a connection breaks, does not have it carried out twice.
func (f *change) key() *string {
	if f.idempotencyKey == "" {
		f.idempotencyKey = rand.Text()
	}
	return &f.idempotencyKey
}

// optional is nil for what was not given.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// timeFlag reads an RFC 3339 time, or a duration from now such as 720h.
func timeFlag(name, text string, now time.Time, sign int) (*time.Time, error) {
	if text == "" {
		return nil, nil // absent is no error
	}
	if d, err := time.ParseDuration(text); err == nil {
		at := now.Add(time.Duration(sign) * d).UTC().Truncate(time.Second)
		return &at, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil, misuse("--%s must be a time such as 2030-01-31T12:00:00Z, or a duration such as 720h", name)
	}
	return &at, nil
}
