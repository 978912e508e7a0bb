package surface

import (
	"math"

	"github.com/signalbox-dev/signalbox/dataplane/internal/health"
)

// healthView is what users are told of an endpoint: of the last half hour, over
// all gateways. Shares are from 0 to 1; times and speeds are medians.
type healthView struct {
	Requests    int64        `json:"requests"`
	Uptime      float64      `json:"uptime"`
	Errors      float64      `json:"error_share"`
	RateLimited float64      `json:"rate_limited_share"`
	GeoBlocked  float64      `json:"geo_blocked_share"`
	FirstByteMS *float64     `json:"first_byte_ms"`     // null: not known
	Throughput  *float64     `json:"tokens_per_second"` // of output, after the first byte; null: not known
	State       health.State `json:"state"`
}

func healthOf(p health.Published) *healthView {
	v := &healthView{
		Requests: p.Requests, Uptime: share(p.Uptime), Errors: share(p.Errors), RateLimited: share(p.RateLimited),
		GeoBlocked: share(p.GeoBlocked), State: p.State,
	}
	if p.FirstByte > 0 {
		ms := milliseconds(p.FirstByte)
		v.FirstByteMS = &ms
	}
	if p.Throughput > 0 {
		speed := math.Round(p.Throughput*10) / 10
		v.Throughput = &speed
	}
	return v
}

// share keeps four decimals: a hundredth of a percent.
func share(v float64) float64 { return math.Round(v*1e4) / 1e4 }
