package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// HealthReport is what users may be told of endpoints, by one gateway for all of
// them: it is worked out from the totals that they tell each other.
type HealthReport struct {
	Schema    int              `json:"schema"`
	MadeAt    time.Time        `json:"made_at"`
	Endpoints []ReportedHealth `json:"endpoints"` // those with enough requests, at most MaxReported
	More      int              `json:"more,omitempty"`
}

// HealthReportSchema is the version of reports that is spoken here.
const HealthReportSchema = 1

// MaxReported bounds a report: it is one message.
const MaxReported = 2048

// maxHealthReport is the size of a report, in bytes.
const maxHealthReport = 1 << 20

// ReportedHealth is what users may be told of one endpoint: of the last half
// hour, over all gateways and workspaces.
type ReportedHealth struct {
	ID          string        `json:"id"`
	Requests    int64         `json:"requests"` // that it answered, failed, or refused for their rate or place
	Uptime      float64       `json:"uptime"`   // shares, 0 to 1
	Errors      float64       `json:"errors,omitempty"`
	RateLimited float64       `json:"rate_limited,omitempty"`
	GeoBlocked  float64       `json:"geo_blocked,omitempty"`
	FirstByte   time.Duration `json:"first_byte_ns,omitempty"` // medians; 0: not known
	Throughput  float64       `json:"throughput,omitempty"`    // tokens per second
	State       string        `json:"state"`                   // closed, open, half_open, cooling
	Until       time.Time     `json:"until,omitzero"`          // the deadline of open and cooling
}

// ParseHealthReport reads a report. One of another version, or with what cannot
// be, is refused whole.
func ParseHealthReport(body []byte) (HealthReport, error) {
	var r HealthReport
	if len(body) > maxHealthReport {
		return r, errors.New("read a health report: it is too large")
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return HealthReport{}, fmt.Errorf("read a health report: %w", err)
	}
	if r.Schema != HealthReportSchema || len(r.Endpoints) > MaxReported {
		return HealthReport{}, errors.New("read a health report: it is none of this version")
	}
	for i := range r.Endpoints {
		if e := &r.Endpoints[i]; !e.valid() {
			return HealthReport{}, errors.New("read a health report: an endpoint has what cannot be")
		}
	}
	return r, nil
}

func (e *ReportedHealth) valid() bool {
	for _, share := range [...]float64{e.Uptime, e.Errors, e.RateLimited, e.GeoBlocked} {
		if !(share >= 0 && share <= 1) {
			return false
		}
	}
	switch e.State {
	case "closed", "open", "half_open", "cooling":
	default:
		return false
	}
	return e.ID != "" && e.Requests >= 0 && e.FirstByte >= 0 && e.Throughput >= 0
}
