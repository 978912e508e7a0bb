// Package probe owns the answers to "are you alive" and "are you ready". It
// knows nothing of what the checks look at.
package probe

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/signalbox-dev/signalbox/shared/httpserver"
)

// Check is one thing that readiness looks at.
type Check struct {
	Name string
	// Required checks make the process unready when they fail; the others are
	// only reported.
	Required bool
	// Run says whether all is well and a few words for an operator. The words
	// are shown to anyone who can reach the port.
	Run func(ctx context.Context) (ok bool, detail string)
}

// patience bounds a check, so that a hanging store reads as a failing one.
const patience = 2 * time.Second

// Live answers 200 while the process can answer at all.
func Live(c *gin.Context) { c.String(http.StatusOK, "ok\n") }

// Ready answers 200 when every required check passes and 503 otherwise; with
// ?verbose the body lists the checks.
func Ready(checks ...Check) gin.HandlerFunc {
	return func(c *gin.Context) {
		results, ready := run(c.Request.Context(), checks)
		status, word := http.StatusOK, "ready"
		if !ready {
			status, word = http.StatusServiceUnavailable, "not ready"
		}
		if _, verbose := c.GetQuery("verbose"); !verbose {
			c.String(status, word+"\n")
			return
		}
		c.JSON(status, httpserver.Readiness{Ready: ready, Checks: results})
	}
}

func run(ctx context.Context, checks []Check) ([]httpserver.CheckResult, bool) {
	results := make([]httpserver.CheckResult, len(checks))
	done := make(chan struct{})
	for i, check := range checks {
		go func() {
			defer func() { done <- struct{}{} }()
			limited, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			ok, detail := check.Run(limited)
			results[i] = httpserver.CheckResult{Name: check.Name, OK: ok, Required: check.Required, Detail: detail}
		}()
	}
	for range checks {
		<-done
	}
	ready := true
	for _, r := range results {
		ready = ready && (r.OK || !r.Required)
	}
	return results, ready
}
