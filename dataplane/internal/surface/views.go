package surface

import (
	"encoding/json"
	"time"

	"github.com/signalbox-dev/signalbox/dataplane/internal/call"
	"github.com/signalbox-dev/signalbox/shared/catalog"
	"github.com/signalbox-dev/signalbox/shared/id"
	"github.com/signalbox-dev/signalbox/shared/meter"
	"github.com/signalbox-dev/signalbox/shared/money"
	"github.com/signalbox-dev/signalbox/shared/policy"
	"github.com/signalbox-dev/signalbox/shared/wire"
)

// data is the envelope of the gateway's own answers.
type data struct {
	Data any `json:"data"`
}

// list is v, as [] rather than null when it is empty.
func list[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}

type keyView struct {
	ID          id.Key            `json:"id"`
	Workspace   id.Workspace      `json:"workspace_id"`
	CreatedBy   id.User           `json:"created_by,omitzero"`
	Status      string            `json:"status"`
	ExpiresAt   *time.Time        `json:"expires_at"`
	Models      []string          `json:"models"`   // empty: all
	Surfaces    []catalog.Surface `json:"surfaces"` // empty: all
	Scopes      []string          `json:"scopes"`
	SoftBlocked bool              `json:"soft_blocked"`
	// Usage is what the key has used, by window; null when that cannot be told.
	Usage          map[policy.Interval]usedView `json:"usage"`
	Limits         []limitView                  `json:"limits"` // all that are held against its requests
	PolicyRevision int64                        `json:"policy_revision"`
}

// usedView is what a key has used in one window.
type usedView struct {
	Requests  int64     `json:"requests"`
	CostUSD   string    `json:"cost_usd"`
	CostNanos int64     `json:"cost_nanos"`
	Resets    time.Time `json:"reset_at"`
}

// limitView is one limit. Amounts of cost are in nano-USD, and in USD beside.
type limitView struct {
	Scope        string     `json:"scope"`
	ID           string     `json:"id"`
	Metric       string     `json:"metric"`
	Window       string     `json:"window,omitempty"`
	Limit        int64      `json:"limit"`
	LimitUSD     string     `json:"limit_usd,omitempty"`
	Used         *int64     `json:"used"`      // null when it cannot be told
	Remaining    *int64     `json:"remaining"` // as Used
	UsedUSD      string     `json:"used_usd,omitempty"`
	RemainingUSD string     `json:"remaining_usd,omitempty"`
	Resets       *time.Time `json:"reset_at"` // null: not at one time, or never
	Reserves     bool       `json:"reserves,omitempty"`
}

func limitsOf(s *call.Standing) []limitView {
	out := make([]limitView, 0, len(s.Limits))
	for i := range s.Limits {
		l := &s.Limits[i]
		v := limitView{Scope: l.Scope, ID: l.ID, Metric: l.Metric, Window: l.Window, Limit: l.Limit, Reserves: l.Reserve}
		if !l.Resets.IsZero() {
			v.Resets = &l.Resets
		}
		left := max(0, l.Limit-l.Used)
		if !l.Unknown {
			v.Used, v.Remaining = &l.Used, &left
		}
		if l.Metric == "cost" || l.Metric == "credit" {
			v.LimitUSD = money.Nanos(l.Limit).String()
			if !l.Unknown {
				v.UsedUSD, v.RemainingUSD = money.Nanos(l.Used).String(), money.Nanos(left).String()
			}
		}
		out = append(out, v)
	}
	return out
}

type providerView struct {
	Slug       string               `json:"slug"`
	Name       string               `json:"name,omitempty"`
	Aliases    []string             `json:"aliases"`
	Type       catalog.ProviderType `json:"type"`
	Regions    []string             `json:"regions"`
	DataPolicy catalog.DataPolicy   `json:"data_policy"`
}

// usd is a price in USD per million units, as a decimal string.
func usd(p *money.PerMillion) *string {
	if p == nil {
		return nil
	}
	text := p.String()
	return &text
}

// priceView is a price in USD per million units; a missing one is unknown.
type priceView struct {
	Input        *string    `json:"input,omitempty"`
	Output       *string    `json:"output,omitempty"`
	CachedInput  *string    `json:"cached_input,omitempty"`
	CacheWrite5m *string    `json:"cache_write_5m,omitempty"`
	CacheWrite1h *string    `json:"cache_write_1h,omitempty"`
	Reasoning    *string    `json:"reasoning,omitempty"`
	Image        *string    `json:"image,omitempty"`
	Audio        *string    `json:"audio,omitempty"`
	Request      string     `json:"request,omitempty"` // USD for each request
	Tiers        []tierView `json:"tiers,omitempty"`
}

type tierView struct {
	Above int64      `json:"above_input_tokens"`
	Price *priceView `json:"price"`
}

func priceOf(p *catalog.Price) *priceView {
	if p == nil {
		return nil
	}
	v := &priceView{
		Input: usd(p.Input), Output: usd(p.Output), CachedInput: usd(p.CachedInput),
		CacheWrite5m: usd(p.CacheWrite5m), CacheWrite1h: usd(p.CacheWrite1h),
		Reasoning: usd(p.Reasoning), Image: usd(p.Image), Audio: usd(p.Audio),
	}
	if p.Request != 0 {
		v.Request = p.Request.String()
	}
	for i := range p.Tiers {
		v.Tiers = append(v.Tiers, tierView{Above: p.Tiers[i].Above, Price: priceOf(&p.Tiers[i].Price)})
	}
	return v
}

// generationView is one request: the decision, and each model that was tried.
type generationView struct {
	ID              id.Request      `json:"id"`
	CreatedAt       time.Time       `json:"created_at"`
	Surface         catalog.Surface `json:"surface"`
	Stream          bool            `json:"stream"`
	Outcome         wire.Outcome    `json:"outcome"`
	Status          int             `json:"status"`
	Code            string          `json:"code,omitempty"`
	Reason          string          `json:"reason,omitempty"`
	ClientRequestID string          `json:"client_request_id,omitempty"`
	SessionID       string          `json:"session_id,omitempty"`
	RequestedModel  string          `json:"requested_model"`
	Model           string          `json:"model"`
	ServedModel     string          `json:"served_model,omitempty"`
	Provider        string          `json:"provider,omitempty"`
	DurationMS      float64         `json:"duration_ms"`
	FirstByteMS     float64         `json:"first_byte_ms,omitempty"`
	Usage           meter.Usage     `json:"usage"`
	CostUSD         string          `json:"cost_usd"`
	Cost            meter.Cost      `json:"cost"`
	Suppressed      bool            `json:"billing_suppressed,omitempty"`
	Models          []modelTry      `json:"models"`
	Decision        json.RawMessage `json:"decision,omitempty"`
}

type modelTry struct {
	ID       id.Request   `json:"id"`
	Purpose  string       `json:"purpose,omitempty"` // of a request that the gateway made for this one; "" for the caller's
	Model    string       `json:"model"`
	Outcome  wire.Outcome `json:"outcome"`
	Status   int          `json:"status"`
	Code     string       `json:"code,omitempty"`
	Reason   string       `json:"reason,omitempty"`
	Attempts int          `json:"attempts"`
	CostUSD  string       `json:"cost_usd"`
}

// generationOf joins the events of a request. The last one of the caller's has
// how it ended, and the decision with all that was tried. What the gateway asked
// for the request's sake ends before it, and is listed behind the models. False
// says that there is nothing else yet.
func generationOf(events []wire.UsageEvent) (generationView, bool) {
	own := make([]wire.UsageEvent, 0, len(events))
	var aside []wire.UsageEvent
	for i := range events {
		if events[i].Purpose == "" {
			own = append(own, events[i])
		} else {
			aside = append(aside, events[i])
		}
	}
	if len(own) == 0 {
		return generationView{}, false
	}
	first, last := &own[0], &own[len(own)-1]
	v := generationView{
		ID: first.ID, CreatedAt: first.StartedAt, Surface: first.Surface, Stream: first.Stream,
		Outcome: last.Outcome, Status: last.Status, Code: last.Code, Reason: last.Reason,
		ClientRequestID: first.ClientRequestID, SessionID: first.SessionID,
		RequestedModel: first.RequestedModel, Model: last.DecidedModel, ServedModel: last.ServedModel, Provider: last.Provider,
		DurationMS:  milliseconds(last.StartedAt.Add(last.Duration).Sub(first.StartedAt)),
		FirstByteMS: milliseconds(firstByte(first, last)),
		Usage:       last.Usage, CostUSD: last.Cost.Total.String(), Cost: last.Cost, Suppressed: last.Suppressed,
		Decision: last.Decision,
	}
	v.Models = make([]modelTry, 0, len(events))
	for _, list := range [...][]wire.UsageEvent{own, aside} {
		for i := range list {
			v.Models = append(v.Models, tryOf(&list[i]))
		}
	}
	return v, true
}

func tryOf(e *wire.UsageEvent) modelTry {
	return modelTry{
		ID: e.ID, Purpose: e.Purpose, Model: e.DecidedModel, Outcome: e.Outcome, Status: e.Status,
		Code: e.Code, Reason: e.Reason, Attempts: e.Attempts, CostUSD: e.Cost.Total.String(),
	}
}

// firstByte is from the request's start, whichever model sent it; 0 for none.
func firstByte(first, last *wire.UsageEvent) time.Duration {
	if last.FirstByte == 0 {
		return 0
	}
	return last.StartedAt.Sub(first.StartedAt) + last.FirstByte
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
