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

// maxHealthReport is the size of a report, in bytes: the payload that a server
// takes which was not told of larger ones.
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
	State       HealthState   `json:"state"`
	Until       time.Time     `json:"until,omitzero"` // the deadline of open and cooling
}

// HealthState says whether an endpoint is asked.
type HealthState string

// The states.
const (
	HealthClosed   HealthState = "closed"    // it is
	HealthOpen     HealthState = "open"      // it failed too often
	HealthHalfOpen HealthState = "half_open" // one request tries it
	HealthCooling  HealthState = "cooling"   // it said when it may be asked again
)

// EncodeHealthReport writes a report that ParseHealthReport reads. Where it would
// not fit, because names are long, the last endpoints are counted in More instead.
func EncodeHealthReport(r HealthReport) ([]byte, error) {
	for {
		body, err := json.Marshal(r)
		if err != nil {
			return nil, fmt.Errorf("write a health report: %w", err)
		}
		if len(body) <= maxHealthReport || len(r.Endpoints) == 0 {
			return body, nil
		}
		kept := min(len(r.Endpoints)-1, len(r.Endpoints)*maxHealthReport/len(body))
		r.More += len(r.Endpoints) - kept
		r.Endpoints = r.Endpoints[:kept]
	}
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
	case HealthClosed, HealthOpen, HealthHalfOpen, HealthCooling:
	default:
		return false
	}
	return e.ID != "" && e.Requests >= 0 && e.FirstByte >= 0 && e.Throughput >= 0
}
