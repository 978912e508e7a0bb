package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/signalbox-dev/signalbox/cmd/signalbox/internal/client"
	"github.com/signalbox-dev/signalbox/shared/id"
)

// logFilter are the flags that narrow the request log.
type logFilter struct {
	request, key, model, provider, status, outcome, session string
}

func (f *logFilter) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.request, "request", "", "only the models that were tried for this request")
	c.Flags().StringVar(&f.key, "key", "", "only requests of this API key, by its id or name")
	c.Flags().StringVar(&f.model, "model", "", "only requests that were decided for this model")
	c.Flags().StringVar(&f.provider, "provider", "", "only requests that this provider served")
	c.Flags().StringVar(&f.status, "status", "", "only this class of status, such as 5xx")
	c.Flags().StringVar(&f.outcome, "outcome", "", "only success, error, refused, canceled or unknown")
	c.Flags().StringVar(&f.session, "session", "", "only requests of this session")
}

func (f *logFilter) params() client.ListLogsParams {
	return client.ListLogsParams{
		PrimaryRequestID: optional(f.request), KeyID: optional(f.key), Model: optional(f.model), Provider: optional(f.provider),
		Status:  (*client.ListLogsParamsStatus)(optional(f.status)),
		Outcome: (*client.Outcome)(optional(f.outcome)), SessionID: optional(f.session),
	}
}

// oneRequest reports whether nothing but one request is asked for, so that
// finding none means that it is not recorded.
func (f *logFilter) oneRequest() bool {
	return *f == logFilter{request: f.request} && isID[id.RequestKind](f.request)
}

func (a *app) logs() *cobra.Command {
	logs := a.logsList("logs")
	logs.Short = "Read the request log; without a further word, list it"
	logs.AddCommand(a.logsList("list"), a.logsGet())
	return logs
}

func (a *app) logsList(use string) *cobra.Command {
	var filter logFilter
	list := &cobra.Command{Use: use, Short: "List requests, newest first", Args: cobra.NoArgs}
	filter.flags(list)
	limit := limitFlag(list)
	span := spanFlags(list)
	follow := list.Flags().BoolP("follow", "f", false, "keep showing new requests, oldest first, until interrupted")
	list.RunE = func(c *cobra.Command, _ []string) error {
		since, until, err := span.times()
		if err != nil {
			return err
		}
		api, err := a.management()
		if err != nil {
			return err
		}
		if filter.key != "" {
			if filter.key, err = keyID(c.Context(), api, filter.key); err != nil {
				return err
			}
		}
		params := filter.params()
		if *follow {
			return a.follow(c.Context(), api, params)
		}
		params.Since, params.Until = since, until
		var body []byte
		var found []client.Log
		list := func() (bool, error) {
			body, found, err = pages[client.Log](*limit, func(cursor *string, size int) (answer, error) {
				params.Cursor, params.Limit = cursor, &size
				return api.ListLogsWithResponse(c.Context(), &params)
			})
			return len(found) > 0 || !filter.oneRequest(), err
		}
		var none unrecorded
		if err := a.onceRecorded(c.Context(), filter.request, list); err != nil && !errors.As(err, &none) {
			return err
		}
		return a.showBody(body, func(t *table) {
			if none != (unrecorded{}) { // an empty list is an answer, which scripts read
				t.row(notYet)
				return
			}
			t.row(logHeads()...)
			for _, l := range found {
				t.row(logCells(l)...)
			}
		})
	}
	return list
}

func (a *app) logsGet() *cobra.Command {
	return &cobra.Command{
		Use: "get REQUEST_ID", Short: "Show a request", Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			api, err := a.management()
			if err != nil {
				return err
			}
			r, err := a.log(c.Context(), api, args[0])
			if err != nil {
				return err
			}
			return a.show(r, func(t *table) { logTable(t, r.JSON200.Data) })
		},
	}
}

const (
	followEvery = time.Second
	// followBack is how far each look goes back: records arrive out of order,
	// and late when a gateway had to spool them.
	followBack = 2 * time.Minute
	// followFirst is how many earlier requests are shown to begin with.
	followFirst = 10
)

// follow shows the latest requests and then new ones as their records arrive.
func (a *app) follow(ctx context.Context, api *client.ClientWithResponses, params client.ListLogsParams) error {
	seen := make(map[string]time.Time)
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for first := true; ; first = false {
		since := time.Now().Add(-followBack)
		params.Since = &since
		fresh, err := a.unseen(ctx, api, params, seen)
		if err != nil {
			return err
		}
		if first && len(fresh) > followFirst {
			fresh = fresh[len(fresh)-followFirst:]
		}
		if err := a.showNew(fresh, first); err != nil {
			return err
		}
		for id, at := range seen {
			if at.Before(since) {
				delete(seen, id) // later looks do not go back so far
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// unseen fetches what params ask for and seen does not have, oldest first.
func (a *app) unseen(ctx context.Context, api *client.ClientWithResponses, params client.ListLogsParams, seen map[string]time.Time) ([]json.RawMessage, error) {
	_, raw, err := pages[json.RawMessage](0, func(cursor *string, size int) (answer, error) {
		params.Cursor, params.Limit = cursor, &size
		return api.ListLogsWithResponse(ctx, &params)
	})
	if err != nil {
		return nil, err
	}
	var fresh []json.RawMessage
	for _, r := range slices.Backward(raw) {
		var l client.Log
		if err := json.Unmarshal(r, &l); err != nil {
			return nil, fmt.Errorf("the server's answer is not readable: %w", err)
		}
		if _, ok := seen[l.ID]; !ok {
			seen[l.ID] = l.StartedAt
			fresh = append(fresh, r)
		}
	}
	return fresh, nil
}

// showNew writes one line for each request: JSON lines, YAML documents, or
// rows under a head that comes once.
func (a *app) showNew(fresh []json.RawMessage, head bool) error {
	if a.output == "table" {
		found, err := readAll[client.Log](fresh)
		if err != nil {
			return err
		}
		t := newTable(a.Stdout)
		if head {
			t.row(wide(logHeads())...)
		}
		for _, l := range found {
			t.row(wide(logCells(l))...)
		}
		return t.flush()
	}
	for _, r := range fresh {
		if a.output == "yaml" {
			if _, err := fmt.Fprintln(a.Stdout, "---"); err != nil {
				return err
			}
			if err := writeYAML(a.Stdout, r); err != nil {
				return err
			}
			continue
		}
		if _, err := fmt.Fprintf(a.Stdout, "%s\n", r); err != nil {
			return err
		}
	}
	return nil
}

// followWidths are those of the columns, so that lines that come one by one stay
// below each other unless something is long.
var followWidths = []int{30, 20, 10, 6, 8, 28, 12, 6, 6, 10, 0}

func wide(cells []any) []any {
	padded := make([]any, len(cells))
	for i, c := range cells {
		padded[i] = fmt.Sprintf("%-*s", followWidths[i], cell(c))
	}
	return padded
}

func logHeads() []any {
	return []any{"REQUEST", "STARTED", "SURFACE", "STATUS", "OUTCOME", "MODEL", "PROVIDER", "MS", "TOKENS", "COST USD", "PURPOSE"}
}

func logCells(l client.Log) []any {
	model := l.DecidedModel
	if model == nil {
		model = l.RequestedModel
	}
	return []any{
		l.ID, l.StartedAt, l.Surface, l.Status, l.Outcome, model, l.Provider,
		fmt.Sprintf("%.0f", l.DurationMs), l.Usage.Input + l.Usage.Output + l.Usage.Reasoning, l.CostUsd, l.Purpose,
	}
}

func logTable(t *table, l client.LogDetail) {
	t.row("REQUEST", l.ID)
	t.row("STARTED", l.StartedAt)
	t.row("SURFACE", l.Surface)
	if said(l.Purpose) {
		t.row("PURPOSE", l.Purpose)
	}
	t.row("STATUS", l.Status)
	t.row("OUTCOME", l.Outcome)
	if l.Code != nil {
		t.row("CODE", l.Code)
		t.row("REASON", l.Reason)
	}
	t.row("REQUESTED MODEL", l.RequestedModel)
	t.row("DECIDED MODEL", l.DecidedModel)
	t.row("SERVED MODEL", l.ServedModel)
	t.row("PROVIDER", l.Provider)
	t.row("ATTEMPTS", l.AttemptCount)
	t.row("TOOK", fmt.Sprintf("%.1f ms", l.DurationMs))
	t.row("INPUT TOKENS", l.Usage.Input)
	t.row("OUTPUT TOKENS", l.Usage.Output)
	t.row("COST USD", l.CostUsd)
	t.row("KEY", l.KeyID)
	t.row("GATEWAY", l.GatewayID)
	t.row("POLICY REVISION", l.PolicyRevision)
}
